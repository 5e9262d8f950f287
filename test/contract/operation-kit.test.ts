import { describe, expect, test } from "vitest";
import { z } from "zod";
import { MADE_UP, serve } from "./made-up-operation.js";

// What a row of the contract can say, from the client through the sandbox. No row of today says all of it.

describe("an operation", () => {
  test("an operation may replace something with PUT", async () => {
    const body = z.strictObject({ ids: z.array(z.string()) });
    const put = { ...MADE_UP, method: "PUT", body, retry: "never" } as const;
    const { call, seen, sent } = serve(put);
    await call("a b", { ids: ["1"] });
    expect(sent).toMatchObject([{ url: "http://localhost/v1/things/a%20b", init: { method: "PUT" } }]);
    expect(seen).toMatchObject([{ params: { id: "a b" }, body: { ids: ["1"] } }]);
  });
});
