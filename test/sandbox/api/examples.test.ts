import { createClient } from "pigeonhole/client";
import { describe, expect, test } from "vitest";
import { waitingClock } from "#pigeonhole/base/clock.js";
import { listOperations } from "#pigeonhole/contract/contract.js";
import { type Operation, pathNames } from "#pigeonhole/contract/operation.js";
import { BEFORE, EXAMPLE_WORKSPACE, type Ids, MAKERS } from "../resources/operation-cases.js";
import { openSandbox } from "../support.js";

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

describe("the example of each row", () => {
  test.each(listOperations().map((row) => [`${row.resource}.${row.name}`, row] as const))(
    "the example of %s travels from the client to the sandbox and back, and fires the events of its row alone",
    async (call, { resource, name, operation }) => {
      const fired: string[] = [];
      const sandbox = openSandbox({
        ...EXAMPLE_WORKSPACE,
        onLog: (entry) => {
          if (entry.kind === "event") fired.push(entry.type);
        },
      });
      const { startMs } = EXAMPLE_WORKSPACE;
      const client = createClient({
        ...sandbox.clientOptions,
        clock: { ...waitingClock, now: () => startMs + performance.now() },
      });
      const made = await MAKERS[resource](client);
      const ids = { ...made, ...(await BEFORE[call]?.(client, made, sandbox)) };
      fired.length = 0;
      const calls = client as unknown as Record<string, Record<string, (...args: unknown[]) => Promise<unknown>>>;
      const result = await calls[resource]?.[name]?.(...argumentsOf(operation, ids));
      // The client has read the answer by the row's schema; here is what it was asked for.
      expect(result).toBeDefined();
      expect(operation.fires ?? []).toEqual(expect.arrayContaining(fired));
      const shown = operation.result?.safeParse(operation.example.result).data;
      if (typeof shown !== "object" || shown === null || Array.isArray(shown)) return;
      expect(Object.keys(result as object)).toEqual(expect.arrayContaining(Object.keys(shown)));
    },
  );
});
