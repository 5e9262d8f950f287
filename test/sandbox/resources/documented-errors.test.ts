import { describe, expect, test } from "vitest";
import { API_ERROR_CODES, type ApiErrorCode } from "#pigeonhole/contract/api-error-codes.js";
import type { Operation } from "#pigeonhole/contract/operation.js";
import { type Called, verdict } from "../api/support.js";
import { ROWS, type World, openWorld, requestOf } from "./support.js";

type Producer = (world: World) => Promise<Called>;

/** The requests for errors that are the same for every row; undefined where a row needs one of its own. */
function usualProducer(operation: Operation, code: ApiErrorCode): Producer | undefined {
  const { body, query, pageParam = "cursor", params, example } = operation;
  const send =
    (...[over, key]: [Parameters<typeof requestOf>[1]?, ("full" | "none")?]): Producer =>
    (world) => {
      const { line, init } = requestOf(operation, over);
      return world.send(line, { ...init, key: key ?? "full" });
    };
  const usual: Partial<Record<ApiErrorCode, Producer>> = {
    insufficient_scope: send({}, "none"),
    invalid_cursor: send({ query: { [pageParam]: "foreign" } }),
    unknown_parameter:
      body === undefined ? send({ query: { surprise: 1 } }) : send({ body: { ...example.body, surprise: 1 } }),
  };
  if (usual[code] !== undefined) return usual[code];
  if (code === "invalid_parameter" && body !== undefined) return send({ body: 5 });
  if (code === "invalid_parameter" && query?.shape["limit"] !== undefined) return send({ query: { limit: 0 } });
  // A workspace without rows has none of the ids of the examples.
  return code.endsWith("_not_found") && params !== undefined ? send() : undefined;
}

/** Creates labels, and answers the last creation. */
const labels = async ({ send }: World, ...names: string[]): Promise<Called> => {
  let last: Called | undefined;
  for (const name of names) last = await send("POST /labels", { body: { name } });
  if (last === undefined) throw new Error("No label was created.");
  return last;
};
const upTo = (count: number): string[] => Array.from({ length: count }, (_, index) => `n${index}`);

/** A request for each other error that the contract lists, by call and code. */
const PRODUCERS: Record<string, Producer> = {
  "labels.create label_name_taken": (world) => labels(world, "Big orders", "BIG ORDERS"),
  "labels.create label_limit_reached": (world) => labels(world, ...upTo(51)),
  "labels.update label_name_taken": async (world) => {
    await labels(world, "Big orders", "Small orders");
    return world.send("PATCH /labels/USER_BIG_ORDERS", { body: { name: "small ORDERS" } });
  },
};

const DOCUMENTED = ROWS.flatMap(({ call, operation }) =>
  operation.errors.map((code) => ({ name: `${call} ${code}`, operation, code })),
);

describe("the errors of the resources", () => {
  test("the table of requests has no error that the contract does not list", () => {
    const names = new Set(DOCUMENTED.map(({ name }) => name));
    expect(Object.keys(PRODUCERS).filter((name) => !names.has(name))).toEqual([]);
  });

  test.each(DOCUMENTED)(
    "the sandbox gives the error that the contract lists: $name",
    async ({ name, operation, code }) => {
      const produce = PRODUCERS[name] ?? usualProducer(operation, code);
      if (produce === undefined) throw new Error("Write a request for it in PRODUCERS.");
      const answer = await produce(openWorld());
      expect(verdict(answer)).toContain(` ${code}`);
      expect(API_ERROR_CODES[code].status).toContain(answer.status);
      expect(answer.body["message"]).toMatch(/^[A-Z]/);
    },
  );
});
