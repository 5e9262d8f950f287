import { describe, expect, test } from "vitest";
import { API_ERROR_CODES } from "#pigeonhole/contract/api-error-codes.js";
import { verdict } from "../api/support.js";
import { PRODUCERS, usualProducer } from "./operation-cases.js";
import { ROWS, openWorld } from "./support.js";

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
      const answer = await produce(openWorld({ contacts: [] }));
      expect(verdict(answer)).toContain(` ${code}`);
      expect(API_ERROR_CODES[code].status).toContain(answer.status);
      expect(answer.body["message"]).toMatch(/^[A-Z]/);
    },
  );
});
