import { createClient } from "pigeonhole/client";
import { type SandboxLogEntry, createSandbox } from "pigeonhole/sandbox";
import { type NamedOperation, listOperations } from "#pigeonhole/contract/contract.js";
import { DOCUMENTED_OPERATIONS, NAMED_AREAS, NAMED_OPERATIONS } from "../contract/documented-operations.js";
import { callerOf } from "../sandbox/api/support.js";
import { requestOf } from "../sandbox/resources/support.js";

/** One operation that the service's documentation names. */
export interface Covered {
  /** Method and path where the documentation shows them, otherwise its words. */
  operation: string;
  /** Whether the path is the documentation's or ours; `none` where there is no path to call. */
  path: "documented" | "assumed" | "none";
  /** The call that stands for it; undefined when there is none. */
  call: string | undefined;
  /** Whether the client has the call. */
  client: boolean;
  /** Whether the sandbox has the operation on that path. */
  emulator: boolean;
}

const callOf = ({ resource, name }: NamedOperation): string => `${resource}.${name}`;
const LINES = new Map(listOperations().map((row) => [`${row.operation.method} ${row.operation.path}`, row]));
const CALLS = new Map(listOperations().map((row) => [callOf(row), row]));

/** What there is of every operation that the service's documentation names, as the client and the sandbox say. */
export async function coverage(): Promise<readonly Covered[]> {
  const shown = DOCUMENTED_OPERATIONS.map((operation) => ({ operation, row: LINES.get(operation) }));
  const named = NAMED_OPERATIONS.map(([operation, call]) => ({ operation, row: CALLS.get(call ?? "") }));
  const served = await servedCalls();
  return [...shown, ...named].map(({ operation, row }) => ({
    operation,
    path: row === undefined ? "none" : row.operation.pathIsAssumed === true ? "assumed" : "documented",
    call: row === undefined ? undefined : callOf(row),
    client: row !== undefined && isInClient(row),
    emulator: row !== undefined && served.has(callOf(row)),
  }));
}

/** Every operation that the service's documentation names, and then what it only mentions. */
export async function coverageTable(): Promise<string> {
  const rows = (await coverage()).map(({ operation, path, call, client, emulator }) => {
    const line = call === undefined ? operation : lineOf(call);
    const names = [call === undefined ? "–" : `\`${call}\``, path === "none" ? "not shown" : path];
    return `| ${[line, ...names, client ? "yes" : "no", emulator ? "yes" : "no"].join(" | ")} |`;
  });
  return [
    "| operation | call | path | client | sandbox |",
    "|---|---|---|---|---|",
    ...rows,
    "",
    "Named without operations, paths or shapes, and so in neither:",
    "",
    ...NAMED_AREAS.map((area) => `- ${area}`),
  ].join("\n");
}

function lineOf(call: string): string {
  const { method = "", path = "" } = CALLS.get(call)?.operation ?? {};
  return `\`${method} ${path}\``;
}

function isInClient({ resource, name }: NamedOperation): boolean {
  const client = createClient({ apiKey: "svc_live_coverage", baseUrl: "http://127.0.0.1:9" });
  return typeof (client[resource] as unknown as Record<string, unknown>)[name] === "function";
}

/** The calls that a sandbox takes the examples of the rows for, each in a workspace of its own. */
async function servedCalls(): Promise<ReadonlySet<string>> {
  const served = new Set<string>();
  const onLog = (entry: SandboxLogEntry): void => {
    if (entry.kind === "api" && entry.call.call !== undefined) served.add(entry.call.call);
  };
  for (const { operation } of listOperations()) {
    const sandbox = createSandbox({ clock: "manual", onLog });
    const { line, init } = requestOf(operation);
    const { status } = await callerOf((url, request) => sandbox.fetch(url, request), sandbox.baseUrl)(line, {
      key: sandbox.clientOptions.apiKey,
      ...init,
    });
    await sandbox.close();
    if (status === 500) throw new Error(`The sandbox fails on ${line}.`);
  }
  return served;
}
