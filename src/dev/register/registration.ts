import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { SECOND } from "../../base/duration.js";
import type { Client } from "../../client/call-types.js";
import { NoAnswerError } from "../../client/errors.js";
import type { WebhookCreateInput, WebhookEndpoint } from "../../contract/webhook-endpoint.js";
import type { Report } from "../lines/dev-event.js";

/** The user waits for the process to end. */
const DELETE_TIMEOUT_MS = 5 * SECOND;

/** Endpoints of this process, which must not be treated as leftovers. */
const inUse = new Set<string>();

/** The part of a client that is used. */
export interface EndpointApi {
  readonly webhooks: Pick<Client["webhooks"], "list" | "create" | "update" | "delete">;
}

export interface RegistrationOptions {
  client: EndpointApi;
  /** Public URL of the capture path. */
  url: string;
  /** Event types that are wanted; empty means the service's default set. */
  eventTypes: readonly string[];
  /**
   * Folder of the project: endpoints of crashed runs in it are removed, those of other folders and machines are not.
   */
  cwd: string;
  report: Report;
}

/** An endpoint at the service that points here. */
export interface Registration {
  endpointId: string;
  /** SECRET; kept in memory only. */
  secret: string;
  /** Points the endpoint to another URL. */
  move(url: string): Promise<void>;
  /** Deletes the endpoint. */
  close(): Promise<void>;
}

/**
 * Creates an endpoint for this run. Its description names machine, folder and process, so that the next run can delete
 * the endpoint of a crashed one. An endpoint without this folder's mark is never touched. Rejects with the errors of
 * the client.
 */
export async function registerEndpoint(options: RegistrationOptions): Promise<Registration> {
  const { client, report, eventTypes } = options;
  const mark = markOf(options.cwd);
  await sweep(client, (endpoint) => !inUse.has(endpoint.id) && isLeftover(endpoint, mark), report);

  const description = `${mark} pid ${process.pid}`;
  const input = { url: options.url, description, ...(eventTypes.length === 0 ? {} : { eventTypes }) };
  const created = await create(client, input, report);
  inUse.add(created.id);
  report({
    kind: "registered",
    endpointId: created.id,
    url: options.url,
    eventTypes: eventTypes.length === 0 ? created.eventTypes : [...eventTypes],
  });

  return {
    endpointId: created.id,
    secret: created.secret,
    async move(url) {
      await client.webhooks.update(created.id, { url });
      report({ kind: "registration_moved", endpointId: created.id, url });
    },
    async close() {
      inUse.delete(created.id);
      await client.webhooks.delete(created.id, { signal: AbortSignal.timeout(DELETE_TIMEOUT_MS) });
      report({ kind: "unregistered", endpointId: created.id });
    },
  };
}

/** A creation without an answer may have made an endpoint whose secret is unknown. */
async function create(client: EndpointApi, input: WebhookCreateInput, report: Report) {
  try {
    return await client.webhooks.create(input);
  } catch (error) {
    if (error instanceof NoAnswerError && error.mayHaveArrived) {
      await sweep(client, ({ description }) => description === input.description, report).catch(() => undefined);
    }
    throw error;
  }
}

async function sweep(client: EndpointApi, isWanted: (row: WebhookEndpoint) => boolean, report: Report): Promise<void> {
  const wanted: string[] = [];
  for await (const endpoint of client.webhooks.list({ limit: 100 })) if (isWanted(endpoint)) wanted.push(endpoint.id);
  for (const id of wanted) await client.webhooks.delete(id);
  if (wanted.length > 0) report({ kind: "swept", endpointIds: wanted });
}

/** Hashed, since the whole workspace can read the description. */
function markOf(cwd: string): string {
  const place = createHash("sha256").update(`${hostname()}\0${cwd}`).digest("hex").slice(0, 16);
  return `pigeonhole dev ${place}`;
}

/** True for an endpoint of this machine and folder whose process has ended. */
function isLeftover({ description }: WebhookEndpoint, mark: string): boolean {
  if (description === null || !description.startsWith(`${mark} pid `)) return false;
  const pid = Number(description.slice(`${mark} pid `.length));
  return Number.isInteger(pid) && pid > 0 && !isAlive(pid);
}

/**
 * Another dev server may run in the same folder. This process's own number is a reused one, which is common in
 * containers.
 */
function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
