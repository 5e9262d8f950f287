import { createClient } from "pigeonhole/client";
import { type SandboxLogEntry, createSandbox } from "pigeonhole/sandbox";
import { expect, test } from "vitest";
import { type NamedOperation, listOperations } from "#pigeonhole/contract/contract.js";
import { DOCUMENTED_OPERATIONS, NAMED_OPERATIONS } from "../contract/documented-operations.js";
import { callerOf } from "../sandbox/api/support.js";
import { requestOf } from "../sandbox/resources/support.js";

// What there is of every operation that the service's documentation names, as the client and the sandbox say.

/** One operation that the service's documentation names. */
interface Covered {
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

async function coverage(): Promise<readonly Covered[]> {
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

const COVERED = await coverage();

test("the coverage has the 102 operations that the service names, 78 of them with a path", () => {
  expect(COVERED).toHaveLength(102);
  expect(new Set(COVERED.map(({ operation }) => operation)).size).toBe(102);
  expect(COVERED.filter(({ path }) => path === "documented")).toHaveLength(78);
});

test("the coverage has every call of the contract once", () => {
  const calls = COVERED.flatMap(({ call }) => (call === undefined ? [] : [call]));
  expect(calls.toSorted()).toEqual(
    listOperations()
      .map(({ resource, name }) => `${resource}.${name}`)
      .toSorted(),
  );
});

test("the client and the sandbox have every operation whose shape the service shows", () => {
  const lacking = COVERED.filter(({ client, emulator }) => !client || !emulator);
  expect(lacking).toEqual([
    { operation: "read the analytics of a form", path: "none", call: undefined, client: false, emulator: false },
  ]);
});
