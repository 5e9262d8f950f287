import { describe, expect, test } from "vitest";
import { errorCodesOf } from "#pigeonhole/contract/error-codes-of.js";
import type { ApiErrorCode } from "#pigeonhole/contract/api-error-codes.js";
import { type Operation, takesIdempotencyKey } from "#pigeonhole/contract/operation.js";
import { CHECKS, type CheckName } from "#pigeonhole/sandbox/calls/checks.js";
import { verdict } from "../api/support.js";
import { PRODUCERS, usualProducer } from "./operation-cases.js";
import { ALL_ROWS, type Answered, type CallRow, type Sent, openWorld, requestOf } from "./support.js";

// Requests that two checks refuse: the earlier one in CHECKS gives the answer.

/** Makes a request fail a check too, and says what is answered then; undefined when the row has no such check. */
type Breaker = (operation: Operation, sent: Sent) => { sent: Partial<Sent>; answer: string } | undefined;

const withInit = ({ init }: Sent, change: Sent["init"], answer: string) => ({
  sent: { init: { ...init, ...change } },
  answer,
});

/** How a request is made to fail each check that looks only at the request and its caller. */
const BREAKERS: Partial<Record<CheckName, Breaker>> = {
  credential: ({ credential }, sent) =>
    credential === "none" ? undefined : withInit(sent, { token: "svc_live_unknown" }, "401 unauthorized"),
  // Without a key nothing is said about the paths that there are.
  path: ({ credential }, { line, init }) => ({
    sent: { line: line.replace(/^\w+/, "LOCK"), init: credential === "none" ? { ...init, key: "full" } : init },
    answer: "405 method_not_allowed",
  }),
  scope: ({ scope, ownerOnly }, sent) =>
    scope === null
      ? undefined
      : ownerOnly === true
        ? withInit(sent, { token: undefined, key: "member" }, "403 owner_only")
        : withInit(sent, { token: undefined, key: "none" }, "403 insufficient_scope"),
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

/** The check that a code comes from, of those that look at what the workspace has. */
const CHECK_OF_CODE: Partial<Record<ApiErrorCode, CheckName>> = {
  resource_not_found: "existence",
  contact_not_found: "existence",
  audience_not_found: "existence",
  role_not_found: "existence",
  form_not_found: "existence",
  form_starter_not_found: "existence",
  connected_mailbox_not_found: "existence",
  capability_unsupported: "capability",
  beyond_caller_authority: "capability",
  insufficient_authority: "capability",
  event_rate_limited: "limit",
  form_rate_limited: "limit",
  mailbox_checks_limited: "limit",
  ai_quota_exceeded: "limit",
  workspace_limit_reached: "limit",
  role_limit_reached: "limit",
  signature_limit_reached: "limit",
  label_limit_reached: "limit",
};

/** How a request without ids in its path is made to name something that there is not. */
const MISSING: Record<string, object> = {
  "contactEvents.send": { email: "nobody@example.com" },
  "forms.create": { settings: { audienceIds: ["aud_none"], senderAddress: "billing@acme.example.com" } },
  "keys.create": { roleId: "role_none" },
};
/** How a request is made to reach further than its caller. */
const BEYOND: Record<string, Sent["init"]> = {
  "forms.create": { key: "narrow", body: { name: "x", settings: { senderAddress: "billing@acme.example.com" } } },
  "keys.create": { key: "keeper" },
  "roles.create": { body: { name: "Boss", permissions: ["workspace:manage"] } },
  "signatures.create": {
    key: "narrow",
    body: { address: "billing@acme.example.com", name: "x", html: "<p>x</p>" },
  },
  "signatures.copy": { key: "narrow" },
  "webhooks.create": { key: "narrow" },
};
/** Every sign-up counts, whatever its outcome, so its limit is looked at first. See docs/service.md#sign-ups. */
const COUNTED_FIRST = ["forms.subscribe"];

/** The request with something that there is not, or with ids that nothing has. */
function withMissing({ call, operation }: CallRow, { line, init }: Sent): Partial<Sent> {
  if (operation.params !== undefined)
    return { line: requestOf(operation).line.replace(/\?.*/, line.replace(/^[^?]*/, "")) };
  const missing = MISSING[call];
  if (missing === undefined) throw new Error("Say in MISSING what it can name that there is not.");
  return { init: { ...init, body: { ...(init.body as object), ...missing } } };
}

const NAMES = CHECKS.map(({ name }) => name);
const isBefore = (a: CheckName, b: CheckName): boolean => NAMES.indexOf(a) < NAMES.indexOf(b);
const again = ({ line, init, send }: Sent, change: Partial<Sent>): Promise<Answered> =>
  send(change.line ?? line, change.init ?? init);

/** The code of a row is that of its reach where every route is closed to the caller. */
function checkOf(code: ApiErrorCode, { closedToSome }: Operation): CheckName | undefined {
  return code === "capability_unsupported" && closedToSome !== undefined ? "reach" : CHECK_OF_CODE[code];
}

/** A request of a row for each of its errors that come from what the workspace has. */
async function refusalsOf({ call, operation }: CallRow): Promise<{ check: CheckName; answer: Answered }[]> {
  const asked = errorCodesOf(operation).map(async (code) => {
    const check = checkOf(code, operation);
    const produce = PRODUCERS[`${call} ${code}`] ?? usualProducer(operation, code);
    if (check === undefined || produce === undefined) return [];
    const answer = await produce(openWorld({ contacts: [] }));
    expect(verdict(answer), call).toContain(` ${code}`);
    return [{ check, answer }];
  });
  return (await Promise.all(asked)).flat();
}

describe("the order of the checks", () => {
  test("every check of the table can be failed", () => {
    expect(NAMES).toEqual([...Object.keys(BREAKERS), "existence", "capability", "limit"]);
    expect(new Set(Object.values(CHECK_OF_CODE))).toEqual(new Set(["existence", "capability", "limit"]));
  });

  test.each(ALL_ROWS)(
    "of two checks of $call that look at the request, the earlier one answers",
    async ({ operation }) => {
      const { line, init } = requestOf(operation);
      const { send } = openWorld({ contacts: [] });
      const failing = NAMES.filter((name) => BREAKERS[name]?.(operation, { line, init, send }) !== undefined);
      expect(failing.length).toBeGreaterThanOrEqual(2);
      for (const [index, later] of failing.entries()) {
        for (const earlier of failing.slice(0, index)) {
          const sent = { line, init, send, ...BREAKERS[later]?.(operation, { line, init, send })?.sent };
          const both = BREAKERS[earlier]?.(operation, sent);
          expect(`${earlier} before ${later}: ${verdict(await again(sent, both?.sent ?? {}))}`).toBe(
            `${earlier} before ${later}: ${both?.answer}`,
          );
        }
      }
    },
  );

  test.each(ALL_ROWS)("a check of $call that looks at the workspace comes after each that does not", async (row) => {
    for (const { check, answer } of await refusalsOf(row)) {
      for (const [name, breaker] of Object.entries(BREAKERS) as [CheckName, Breaker][]) {
        const both = isBefore(name, check) ? breaker(row.operation, answer.sent) : undefined;
        if (both === undefined) continue;
        expect(`${name} before ${check}: ${verdict(await again(answer.sent, both.sent))}`).toBe(
          `${name} before ${check}: ${both.answer}`,
        );
      }
    }
  });

  test.each(ALL_ROWS.filter(({ call }) => !COUNTED_FIRST.includes(call)))(
    "of two checks of $call that look at the workspace, the earlier one answers",
    async (row) => {
      const refusals = await refusalsOf(row);
      const checks = refusals.map(({ check }) => check);
      for (const { check, answer } of refusals) {
        if (checks.includes("existence") && isBefore("existence", check)) {
          const both = verdict(await again(answer.sent, withMissing(row, answer.sent)));
          expect(`existence before ${check}: ${both}`).toMatch(/: (?:404 \w+_not_found|422 role_not_found)/);
        }
        if (checks.includes("capability") && isBefore("capability", check)) {
          const beyond = BEYOND[row.call];
          if (beyond === undefined) throw new Error("Say in BEYOND how it reaches too far.");
          const both = verdict(await again(answer.sent, { init: { ...answer.sent.init, ...beyond } }));
          expect(`capability before ${check}: ${both}`).toMatch(
            /: (?:403|422) (?:beyond|insufficient_auth|capability)/,
          );
        }
      }
    },
  );

  test.each(COUNTED_FIRST)("the limit of %s is looked at before what it names", async (name) => {
    const row = ALL_ROWS.find(({ call }) => call === name);
    const limited = row === undefined ? [] : await refusalsOf(row);
    const codes = limited.filter(({ check }) => check === "limit").map(({ answer }) => answer);
    expect(codes.map(verdict)).toEqual(["429 form_rate_limited"]);
    for (const { sent } of codes) expect(verdict(await again(sent, { line: "POST /subscribe/none" }))).toContain("429");
  });
});
