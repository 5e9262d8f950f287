import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { ApiKeyRegistry } from "#pigeonhole/sandbox/access/api-key-registry.js";
import { LIVE_KEY, NOW, verdict } from "../sandbox/api/support.js";
import { MADE_UP, serve } from "./made-up-operation.js";

// What a row of the contract can say, from the client through the sandbox.

describe("an operation", () => {
  const query = z.strictObject({
    failedOnly: z.boolean().optional(),
    keyIds: z.array(z.string().regex(/^\w+$/)).max(3).readonly().optional(),
    sizes: z.array(z.int()).optional(),
    limit: z.int().optional(),
    q: z.string().optional(),
  });

  test.each([
    [{ failedOnly: true }, "?failedOnly=true"],
    [{ failedOnly: false, limit: 5 }, "?failedOnly=false&limit=5"],
    [{ keyIds: ["a", "b"], sizes: [1, -2] }, "?keyIds=a%2Cb&sizes=1%2C-2"],
    [{ keyIds: [] }, "?keyIds="],
    // A text that looks like something else stays a text.
    [{ q: "true" }, "?q=true"],
    [{ q: "12" }, "?q=12"],
    [{ q: "a,b" }, "?q=a%2Cb"],
    [{ q: undefined }, ""],
  ])("an operation gets the query %j as it was given", async (given, search) => {
    const { call, seen, sent } = serve({ ...MADE_UP, query });
    await call("1", given);
    expect(sent.map(({ url }) => new URL(url).search)).toEqual([search]);
    expect(seen.map((one) => one.query)).toEqual([JSON.parse(JSON.stringify(given))]);
  });

  test.each([
    ["failedOnly=yes", "422 invalid_parameter failedOnly"],
    ["failedOnly=1", "422 invalid_parameter failedOnly"],
    ["failedOnly=", "422 invalid_parameter failedOnly"],
    ["keyIds=a,,b", "422 invalid_parameter keyIds.1"],
    ["keyIds=a,b,c,d", "422 invalid_parameter keyIds"],
    ["sizes=1,x", "422 invalid_parameter sizes.1"],
    ["limit=five", "422 invalid_parameter limit"],
    ["limit=0x10", "422 invalid_parameter limit"],
  ])("an operation refuses the query %s", async (search, expected) => {
    const { send } = serve({ ...MADE_UP, query });
    expect(verdict(await send(`GET /things/1?${search}`))).toBe(expected);
  });

  test.each([
    [undefined, 30_000],
    [60_000, 60_000],
    [5_000, 30_000],
  ])(
    "an operation that may take %s ms is waited for as long, and never less than usual",
    async (timeoutMs, expected) => {
      const clock = { now: () => NOW, setTimer: vi.fn(() => ({ cancel() {} })) };
      const slow = { ...MADE_UP, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
      await serve(slow, { client: { clock } }).call("1");
      expect(clock.setTimer.mock.calls).toEqual([[expect.any(Function), expected]]);
    },
  );

  test("an operation of the public is called without a credential, and ignores one that is sent", async () => {
    const open = { ...MADE_UP, method: "POST", scope: null, credential: "none", retry: "never" } as const;
    const { call, send, seen, sent } = serve(open, { client: { credential: { header: "x-key" } } });
    await call("1");
    expect(Object.keys(sent[0]?.init.headers ?? {}).toSorted()).toEqual(["accept", "accept-encoding"]);
    for (const key of [null, LIVE_KEY, "svc_live_unknown"]) {
      expect(verdict(await send("POST /things/1", { key }))).toBe("200");
    }
    expect(seen.map(({ caller }) => caller)).toEqual([undefined, undefined, undefined, undefined]);
    for (const line of ["GET /things/1", "POST /nothing"]) {
      expect(verdict(await send(line, { key: null })), line).toBe("401 unauthorized");
    }
  });

  test("an operation names the scopes that a refused key lacks", async () => {
    const keys = new ApiKeyRegistry([{ token: LIVE_KEY, scopes: [] }]);
    const { send } = serve({ ...MADE_UP, scope: { anyOf: ["keys:write", "keys:manage"] } }, { api: { keys } });
    const { body } = await send("GET /things/1");
    expect(body["message"]).toBe("The API key needs the scope keys:write or keys:manage.");
  });
});

test("a key of the sandbox has every scope by default but the one that makes keys", () => {
  const { scopes } = new ApiKeyRegistry().add({ token: LIVE_KEY });
  expect(scopes).toContain("keys:write");
  expect(scopes).not.toContain("keys:manage");
  expect(scopes).toHaveLength(40);
});
