import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { errorCodesOf } from "#pigeonhole/contract/error-codes-of.js";
import { type Operation, takesIdempotencyKey } from "#pigeonhole/contract/operation.js";
import { verdict } from "../api/support.js";
import { PRODUCERS, usualProducer } from "./operation-cases.js";
import { ALL_ROWS, type Answered, type Sent, openWorld, requestOf } from "./support.js";

/** Makes a request fail a check too, and says what is answered then; undefined when the row has no such check. */
type Breaker = (operation: Operation, sent: Sent) => { sent: Partial<Sent>; answer: string } | undefined;

const withInit = ({ init }: Sent, change: Sent["init"], answer: string) => ({
  sent: { init: { ...init, ...change } },
  answer,
});

/** How a request is made to fail each check that looks only at the request and its caller, in their order. */
const BREAKERS: Record<string, Breaker> = {
  credential: ({ credential }, sent) =>
    credential === "none" ? undefined : withInit(sent, { token: "svc_live_unknown" }, "401 unauthorized"),
  // Without a key nothing is said about the paths that there are.
  path: ({ credential }, { line, init }) => ({
    sent: { line: line.replace(/^\w+/, "LOCK"), init: credential === "none" ? { ...init, key: "full" } : init },
    answer: "405 method_not_allowed",
  }),
  scope({ scope, ownerOnly }, sent) {
    if (ownerOnly === true) return withInit(sent, { token: undefined, key: "member" }, "403 owner_only");
    return scope === null ? undefined : withInit(sent, { token: undefined, key: "none" }, "403 insufficient_scope");
  },
  query: (_, { line }) => ({
    sent: { line: `${line}${line.includes("?") ? "&" : "?"}odd=1` },
    answer: "422 unknown_parameter odd",
  }),
  header: (operation, sent) =>
    takesIdempotencyKey(operation)
      ? withInit(sent, { headers: { "idempotency-key": "a b" } }, "400 invalid_idempotency_key Idempotency-Key")
      : undefined,
  body({ body, uploads }, sent) {
    if (uploads !== undefined) return withInit(sent, { body: "" }, "422 invalid_parameter");
    return body === undefined ? undefined : withInit(sent, { body: "{" }, "400 invalid_parameter");
  },
  reach({ closedToSome }, sent) {
    if (closedToSome === undefined) return undefined;
    const key = closedToSome === "callers" ? "narrow" : "narrowMember";
    return withInit(sent, { token: undefined, key }, "422 capability_unsupported addressAllowlist");
  },
};

/** Codes of the checks that look at what the workspace has. */
const OF_WORKSPACE = /_not_found$|_limited$|_limit_reached$|_authority$|quota_exceeded$|^capability_unsupported$/;

const again = ({ line, init, send }: Sent, change: Partial<Sent> = {}): Promise<Answered> =>
  send(change.line ?? line, change.init ?? init);

describe("the order of the checks", () => {
  test("is the documented one", () => {
    const [, table = ""] = readFileSync("docs/service.md", "utf8").split("### Order of checks");
    const documented = [...table.matchAll(/^\| \d+ \| (\w+) \|/gm)].map(([, name]) => name);
    expect(documented).toEqual([...Object.keys(BREAKERS), "workspace"]);
  });

  test.each(ALL_ROWS)("of two checks of $call that look at the request, the earlier answers", async ({ operation }) => {
    const sent = { ...requestOf(operation), send: openWorld({ contacts: [] }).send };
    const failing = Object.entries(BREAKERS).filter(([, breaker]) => breaker(operation, sent) !== undefined);
    expect(failing.length).toBeGreaterThanOrEqual(2);
    for (const [index, [later, breakLater]] of failing.entries()) {
      for (const [earlier, breakEarlier] of failing.slice(0, index)) {
        const both = breakEarlier(operation, { ...sent, ...breakLater(operation, sent)?.sent });
        const answer = verdict(await again({ ...sent, ...breakLater(operation, sent)?.sent }, both?.sent));
        expect(`${earlier} before ${later}: ${answer}`).toBe(`${earlier} before ${later}: ${both?.answer}`);
      }
    }
  });

  test.each(ALL_ROWS)("a check of $call that looks at the workspace comes last", async ({ call, operation }) => {
    const codes = errorCodesOf(operation).filter((code) => OF_WORKSPACE.test(code));
    for (const code of codes) {
      if (code === "capability_unsupported" && operation.closedToSome !== undefined) continue;
      const refused = await (PRODUCERS[`${call} ${code}`] ?? usualProducer(operation, code))?.(
        openWorld({ contacts: [] }),
      );
      if (refused === undefined) continue;
      expect(verdict(refused), call).toContain(` ${code}`);
      for (const [name, breaker] of Object.entries(BREAKERS)) {
        const both = breaker(operation, refused.sent);
        if (both === undefined) continue;
        const answer = verdict(await again(refused.sent, both.sent));
        expect(`${name} before ${code}: ${answer}`).toBe(`${name} before ${code}: ${both.answer}`);
      }
    }
  });
});
