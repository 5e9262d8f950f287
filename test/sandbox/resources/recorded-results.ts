import { createClient } from "pigeonhole/client";
import { createSandbox } from "pigeonhole/sandbox";
import { waitingClock } from "#pigeonhole/base/clock.js";
import { type NamedOperation, listOperations } from "#pigeonhole/contract/contract.js";
import { type Operation, pathNames } from "#pigeonhole/contract/operation.js";
import { BEFORE, exampleWorkspace, type Ids, MAKERS } from "./operation-cases.js";

/** What a sandbox answers to the example of a row. */
export interface Recorded {
  /** The answer on the wire; undefined for a file. */
  sent: unknown;
  /** What the client made of it. */
  read: unknown;
  /** Types of the events that were fired. */
  fired: string[];
}

/** The answers to the examples of all rows by the names of their calls, each from a workspace of its own. */
export async function recordAnswers(): Promise<ReadonlyMap<string, Recorded>> {
  const answers = listOperations().map(async (row) => [`${row.resource}.${row.name}`, await record(row)] as const);
  return new Map(await Promise.all(answers));
}

async function record({ resource, name, operation }: NamedOperation): Promise<Recorded> {
  const fired: string[] = [];
  const workspace = exampleWorkspace();
  const sandbox = createSandbox({
    ...workspace,
    seed: "examples",
    onLog: (entry) => {
      if (entry.kind === "event") fired.push(entry.type);
    },
  });
  let sent: unknown;
  const client = createClient({
    ...sandbox.clientOptions,
    clock: { ...waitingClock, now: () => workspace.clock.now() + performance.now() },
    fetch: async (url, init) => {
      const response = await sandbox.fetch(url, init);
      if (operation.downloads !== true) sent = await response.clone().json();
      return response;
    },
  });
  const made = await MAKERS[resource](client);
  const ids = { ...made, ...(await BEFORE[`${resource}.${name}`]?.(client, made, sandbox)) };
  fired.length = 0;
  const calls = client as unknown as Record<string, Record<string, (...args: unknown[]) => Promise<unknown>>>;
  const read = await calls[resource]?.[name]?.(...argumentsOf(operation, ids));
  await sandbox.close();
  return { sent, read, fired };
}

/** The arguments of the client for a row's example, with the ids that there are. */
function argumentsOf({ path, body, argument, uploads, query, example }: Operation, ids: Ids): unknown[] {
  const input = argument === undefined ? example.body : example.body?.[argument];
  const ofQuery = Object.fromEntries(Object.entries(ids).filter(([name]) => name in (example.query ?? {})));
  return [
    ...pathNames(path).map((name) => ids[name] ?? example.params?.[name]),
    ...(body === undefined ? [] : [input]),
    ...(uploads === undefined ? [] : [Buffer.from("bytes")]),
    ...(query === undefined ? [] : [{ ...example.query, ...ofQuery }]),
  ];
}
