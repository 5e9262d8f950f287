import { describe, expect, test } from "vitest";
import { recordAnswers } from "../resources/recorded-results.js";
import { ALL_ROWS } from "../resources/support.js";

const answers = await recordAnswers();

describe("the example of each row", () => {
  test.each(ALL_ROWS)(
    "the example of $call travels from the client to the sandbox and back, and fires the events of its row alone",
    ({ call, operation }) => {
      const { read, fired } = answers.get(call) ?? {};
      // The client has read the answer by the row's schema.
      expect(read).toBeDefined();
      expect(operation.fires ?? []).toEqual(expect.arrayContaining(fired ?? []));
    },
  );
});
