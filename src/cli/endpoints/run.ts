import { statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { resolve } from "node:path";
import type { WebhookCreateInput, WebhookEndpoint, WebhookTest } from "../../contract/webhook-endpoint.js";
import { rotateSecret, SecretNotHandedOverError } from "../../receiver/rotate-secret.js";
import { attemptHint } from "../values/attempt-hint.js";
import { CommandError, usageError } from "../frame/command-error.js";
import { confirm } from "../frame/confirm.js";
import type { CommandContext, RunCommand } from "../frame/context.js";
import { EXIT } from "../frame/exit-code.js";
import type { Output } from "../frame/output.js";
import { escapeControls } from "../../base/text.js";
import { formatTable } from "../frame/format.js";
import type * as specs from "./spec.js";
import { namingFlags, openClient } from "../values/api-client.js";
import { writePrivateFile } from "../../capture/folder/write-private-file.js";

export const list: RunCommand<typeof specs.endpointsList> = async ({ options, context }) => {
  const { out, signal } = context;
  const rows: string[][] = [];
  for await (const endpoint of openClient(options, context).webhooks.list({ limit: 100 }, { signal })) {
    if (out.isJson) out.result({ endpoint }, "");
    else rows.push(row(endpoint, out));
  }
  if (out.isJson) return;
  if (rows.length === 0) out.note("The workspace has no webhook endpoints.");
  else out.result({}, formatTable(["ID", "STATE", "EVENTS", "FAILURES", "LAST DELIVERY", "URL"], rows, out.paint.dim));
};

export const create: RunCommand<typeof specs.endpointsCreate> = async ({ args, options, context }) => {
  const client = openClient(options, context);
  // Checked first: a secret that cannot be written would be lost.
  if (options.writeSecret !== undefined) {
    refuseKept(options.writeSecret, context);
    await checkWritable(options.writeSecret, context);
  }
  const input = { url: args.url, ...writableInput(options) };
  const created = await namingFlags(client.webhooks.create(input, { signal: context.signal }));
  const { secret, ...endpoint } = created;
  const { out } = context;
  await showSecret({ endpoint, secret, file: options.writeSecret, context });
  out.note(
    `Created. ${options.writeSecret === undefined ? "Store the secret now; it is not shown again." : ""}`.trim(),
  );
};

export const update: RunCommand<typeof specs.endpointsUpdate> = async ({ args, options, context }) => {
  if (options.enable && options.disable) throw usageError("--enable and --disable cannot be used together.");
  const switched = options.enable ? true : options.disable ? false : undefined;
  const input = {
    ...writableInput(options),
    ...(options.url !== undefined && { url: options.url }),
    ...(switched !== undefined && { enabled: switched }),
  };
  if (Object.keys(input).length === 0) throw usageError("Nothing to change: give --url, --event, --enable or another.");
  const client = openClient(options, context);
  const endpoint = await namingFlags(client.webhooks.update(args.id, input, { signal: context.signal }));
  showEndpoint(endpoint, context.out);
};

export const rotate: RunCommand<typeof specs.endpointsRotateSecret> = async ({ args, options, context }) => {
  const client = openClient(options, context);
  if (options.writeSecret !== undefined) await checkWritable(options.writeSecret, context);
  const question = `Rotate the secret of ${args.id}? The old one stops at once.`;
  if (!(await confirm(question, context))) return EXIT.failed;
  const { id: endpointId } = args;
  const file = options.writeSecret;
  if (file === undefined) {
    const { secret, ...endpoint } = await namingFlags(client.webhooks.rotateSecret(endpointId));
    await showSecret({ endpoint, secret, file, context });
    return;
  }
  try {
    const handOver = (secret: string): Promise<void> => writePrivateFile(resolve(context.cwd, file), `${secret}\n`);
    await namingFlags(rotateSecret({ client, endpointId, handOver }));
  } catch (error) {
    if (!(error instanceof SecretNotHandedOverError)) throw error;
    // The only case in which the secret is shown: it exists nowhere else.
    context.out.result({ id: endpointId, secret: error.secret() }, error.secret());
    throw new CommandError(
      EXIT.failed,
      "not_written",
      `The secret was rotated, and ${file} could not be written. It is shown above; store it now.`,
    );
  }
  context.out.result({ id: endpointId, secretFile: file }, `The new secret of ${endpointId} is in ${file}.`);
};

export const remove: RunCommand<typeof specs.endpointsDelete> = async ({ args, options, context }) => {
  const client = openClient(options, context);
  if (!(await confirm(`Delete ${args.id} with its secret and its delivery log?`, context))) return EXIT.failed;
  const { id } = await namingFlags(client.webhooks.delete(args.id, { signal: context.signal }));
  context.out.result({ id, deleted: true }, `Deleted ${id}.`);
};

export const test: RunCommand<typeof specs.endpointsTest> = async ({ args, options, context }) => {
  const client = openClient(options, context);
  const { delivery } = await namingFlags(client.webhooks.test(args.id, { signal: context.signal }));
  const { out } = context;
  const isDelivered = delivery?.status === "delivered";
  const hint = isDelivered || delivery === null ? null : attemptHint(delivery);
  out.result({ id: args.id, delivery, hint }, describeTest({ delivery, hint }, out));
  return isDelivered ? EXIT.ok : EXIT.failed;
};

export const deliveries: RunCommand<typeof specs.endpointsDeliveries> = async ({ args, options, context }) => {
  const { out, signal } = context;
  const { status, limit } = options;
  const query = { limit: Math.min(limit, 100), ...(status !== undefined && { status }) };
  const rows: string[][] = [];
  let count = 0;
  for await (const delivery of openClient(options, context).webhooks.deliveries(args.id, query, { signal })) {
    if (out.isJson) out.result({ delivery }, "");
    const { createdAt, eventType, attempt, responseCode, durationMs, error, id } = delivery;
    const took = durationMs === null ? "" : `${durationMs} ms`;
    const cells = [createdAt, delivery.status, responseCode, took, attempt, eventType, id, error];
    rows.push(cells.map((cell) => escapeControls(String(cell ?? ""))));
    count += 1;
    if (count === limit) break;
  }
  if (out.isJson) return;
  if (rows.length === 0) out.note("No such deliveries.");
  else
    out.result(
      {},
      formatTable(["TIME", "STATUS", "ANSWER", "TOOK", "ATTEMPT", "TYPE", "ID", "ERROR"], rows, out.paint.dim),
    );
};

interface WritableOptions {
  event: string[];
  description: string | undefined;
  address: string[];
  domain: string[];
}

/** Lists that were not given are omitted, so that an update keeps them. */
function writableInput({ event, description, address, domain }: WritableOptions): Omit<WebhookCreateInput, "url"> {
  return {
    ...(event.length > 0 && { eventTypes: event }),
    ...(description !== undefined && { description }),
    ...(address.length > 0 && { addressAllowlist: address }),
    ...(domain.length > 0 && { domainAllowlist: domain }),
  };
}

interface SecretAnswer {
  endpoint: Pick<WebhookEndpoint, "id">;
  secret: string;
  file: string | undefined;
  context: CommandContext;
}

async function showSecret({ endpoint, secret, file, context }: SecretAnswer): Promise<void> {
  const { out, cwd } = context;
  const { id } = endpoint;
  if (file === undefined) {
    out.result({ endpoint, secret }, `id      ${escapeControls(id)}\nsecret  ${escapeControls(secret)}`);
    return;
  }
  try {
    await writePrivateFile(resolve(cwd, file), `${secret}\n`);
  } catch (error) {
    out.result({ endpoint, secret }, secret);
    throw new CommandError(
      EXIT.failed,
      "not_written",
      `${file} could not be written. The secret is shown above; store it now.`,
      { cause: error },
    );
  }
  out.result({ endpoint, secretFile: file }, `id      ${escapeControls(id)}\nsecret  in ${file}`);
}

/** The file may contain the only copy of another endpoint's secret, which the service does not show again. */
function refuseKept(file: string, { cwd }: CommandContext): void {
  const seen = statSync(resolve(cwd, file), { throwIfNoEntry: false });
  if (seen?.isFile() !== true || seen.size === 0) return;
  throw usageError(
    `--write-secret: ${file} exists already and may contain another endpoint's secret. Name another file, or remove it first. Nothing was changed at the service.`,
  );
}

async function checkWritable(file: string, { cwd }: CommandContext): Promise<void> {
  const path = resolve(cwd, file);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
    throw usageError(`--write-secret: ${file} is a folder; name a file in it. Nothing was changed at the service.`);
  }
  const probe = `${path}.probe`;
  try {
    await writePrivateFile(probe, "");
  } catch {
    throw usageError(`--write-secret: ${file} cannot be written. Nothing was changed at the service.`);
  }
  await rm(probe, { force: true });
}

function row(endpoint: WebhookEndpoint, { paint }: Output): string[] {
  const { id, enabled, eventTypes, consecutiveFailures, lastDeliveryAt, url, disabledReason } = endpoint;
  const off = paint.red(disabledReason === null ? "off" : `off: ${escapeControls(disabledReason)}`);
  const types = eventTypes.length > 3 ? `${eventTypes.length} types` : eventTypes.join(",");
  return [
    escapeControls(id),
    enabled ? paint.green("on") : off,
    escapeControls(types),
    String(consecutiveFailures),
    escapeControls(lastDeliveryAt ?? "never"),
    escapeControls(url),
  ];
}

function showEndpoint(endpoint: WebhookEndpoint, out: Output): void {
  const { id, url, enabled, eventTypes, description } = endpoint;
  const lines = [
    `id           ${id}`,
    `url          ${url}`,
    `state        ${enabled ? "on" : "off"}`,
    `events       ${eventTypes.join(", ")}`,
    `description  ${description ?? ""}`,
  ];
  out.result({ endpoint }, lines.map(escapeControls).join("\n"));
}

interface TestAnswer {
  delivery: WebhookTest["delivery"];
  hint: string | null;
}

function describeTest({ delivery, hint }: TestAnswer, { paint }: Output): string {
  if (delivery === null) return "The service has no row of the attempt in its log, so the result is not known.";
  const { status, responseCode, durationMs, error } = delivery;
  const sign = status === "delivered" ? paint.green("✓") : paint.red("✗");
  const parts = [
    status,
    responseCode ?? "no answer",
    ...(durationMs === null ? [] : [`${durationMs} ms`]),
    error ?? "",
  ];
  const line = `${sign} ${escapeControls(parts.join("  ").trimEnd())}`;
  return hint === null ? line : `${line}\n  ${paint.dim("→")} ${hint}`;
}
