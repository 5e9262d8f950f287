import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Called, callerOf, verdict } from "../api/support.js";
import { SUPPORT } from "../resources/support.js";
import { MINUTE, openSandbox } from "../support.js";

const ACME = "acme.example.com";
const BILLING = `billing@${ACME}`;

/** What a caller that was let loose may give at most. */
const FIRST = {
  scopes: ["keys:manage", "keys:read", "labels:read", "emails:send"],
  domainAllowlist: [ACME],
  expiresInMinutes: 60,
} as const;

/** A key as the API shows it. */
interface Shown {
  id: string;
  mode: string;
  status: string;
  scopes: string[];
  addressAllowlist: string[] | null;
  domainAllowlist: string[] | null;
  expiresAt: string | null;
}

const scopes = fc.uniqueArray(fc.constantFrom(...FIRST.scopes, "labels:write", "settings:write"), { minLength: 1 });
const lists = {
  addressAllowlist: fc.subarray([SUPPORT, BILLING]),
  domainAllowlist: fc.subarray([ACME, "acme.example.org"]),
};
const body = fc.record({ scopes, ...lists }, { requiredKeys: [] });
const step = fc.record({
  kind: fc.constantFrom("create", "create", "update", "rotate", "revoke", "delete", "off", "on"),
  /** Which of the callers so far, and which key. */
  by: fc.nat(20),
  at: fc.nat(20),
  body,
  expiresInMinutes: fc.option(fc.constantFrom(5, 30, 60, 61, 5_000), { nil: undefined }),
  /** Time that passes before the call. */
  minutes: fc.nat(4),
});

function openWalk() {
  const sandbox = openSandbox({ domains: [ACME, "acme.example.org"] });
  const send = callerOf((url, init) => sandbox.fetch(url, init), sandbox.baseUrl);
  const owner = sandbox.callers.key({ name: "owner", scopes: ["keys:read"] });
  // What lies outside the reach, which no walk may touch.
  sandbox.callers.key({ name: "wide" });
  sandbox.callers.key({
    name: "other domain",
    scopes: ["labels:read"],
    domainAllowlist: ["acme.example.org"],
    expiresInMinutes: 30,
  });
  sandbox.callers.key({
    name: "test",
    mode: "test",
    scopes: ["labels:read"],
    domainAllowlist: [ACME],
    expiresInMinutes: 30,
  });
  const outside = sandbox.rows("keys").map((row) => (row as Shown).id);
  const first = sandbox.callers.key(FIRST);
  const rows = (): Shown[] => sandbox.rows("keys") as Shown[];
  return { sandbox, send, owner, first, outside, rows };
}

describe("a walk of calls by a key and by the keys that it makes", () => {
  test("no call makes or changes a key beyond the reach of the first one", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const { sandbox, send, first, outside, rows } = openWalk();
        const endsAt = sandbox.clock.now() + 60 * MINUTE;
        // Some of them expire meanwhile.
        const shown = () =>
          JSON.stringify(
            rows()
              .filter(({ id }) => outside.includes(id))
              .map((row) => ({ ...row, status: "any" })),
          );
        const before = shown();
        const tokens = [first];
        for (const { kind, by, at, body: given, expiresInMinutes, minutes } of steps) {
          await sandbox.advance(minutes * MINUTE);
          const key = tokens[by % tokens.length] ?? first;
          const { id } = rows()[at % rows().length] ?? { id: "" };
          const call = (line: string, sent?: object): Promise<Called> =>
            send(line, { key, ...(sent === undefined ? {} : { body: sent }) });
          const calls = {
            create: () => call("POST /keys", { name: "n", ...given, ...(expiresInMinutes && { expiresInMinutes }) }),
            update: () => call(`PATCH /keys/${id}`, given),
            off: () => call(`PATCH /keys/${id}`, { enabled: false }),
            on: () => call(`PATCH /keys/${id}`, { enabled: true }),
            rotate: () => call(`POST /keys/${id}/rotate`),
            revoke: () => call(`POST /keys/${id}/revoke`, {}),
            delete: () => call(`DELETE /keys/${id}`),
          };
          const { body: answer } = await calls[kind]();
          if (typeof answer["token"] === "string") tokens.push(answer["token"]);

          for (const row of rows().filter((one) => !outside.includes(one.id))) {
            const { scopes: held, mode, addressAllowlist, domainAllowlist, expiresAt } = row;
            expect(held.filter((scope) => !(FIRST.scopes as readonly string[]).includes(scope))).toEqual([]);
            expect(mode).toBe("live");
            expect(Date.parse(expiresAt ?? "9999")).toBeLessThanOrEqual(endsAt);
            expect((addressAllowlist ?? domainAllowlist ?? []).length).toBeGreaterThan(0);
            expect((domainAllowlist ?? []).filter((domain) => domain !== ACME)).toEqual([]);
          }
          expect(shown()).toBe(before);
        }
      }),
      { numRuns: 60 },
    );
  });

  test("a key works exactly while its row says that it is active, with its last token alone", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
        const { sandbox, send, first, outside, rows } = openWalk();
        /** Every token so far by key, the last one last. */
        const tokens = new Map<string, string[]>([[sandbox.apiKeys.find(first)?.caller.keyId ?? "", [first]]]);
        const manager = sandbox.callers.key({ ...FIRST, expiresInMinutes: 1_000 });
        const managerId = sandbox.apiKeys.find(manager)?.caller.keyId ?? "";
        for (const { kind, at, minutes } of steps) {
          await sandbox.advance(minutes * 3 * MINUTE);
          const free = rows().filter(({ id }) => !outside.includes(id) && id !== managerId);
          const { id } = free[at % Math.max(1, free.length)] ?? { id: "0".repeat(24) };
          const lines = {
            create: ["POST /keys", { name: "n", scopes: ["labels:read"], expiresInMinutes: 30 }],
            update: [`PATCH /keys/${id}`, { name: "m" }],
            off: [`PATCH /keys/${id}`, { enabled: false }],
            on: [`PATCH /keys/${id}`, { enabled: true }],
            rotate: [`POST /keys/${id}/rotate`, undefined],
            revoke: [`POST /keys/${id}/revoke`, {}],
            delete: [`DELETE /keys/${id}`, undefined],
          } as const;
          const [line, sent] = lines[kind];
          const { body: answer } = await send(line, { key: manager, ...(sent === undefined ? {} : { body: sent }) });
          if (typeof answer["token"] === "string") {
            const owner = String(answer["id"]);
            tokens.set(owner, [...(tokens.get(owner) ?? []), answer["token"]]);
          }
          for (const [owner, all] of tokens) {
            const status = rows().find((row) => row.id === owner)?.status;
            const last =
              status === "active" ? "200" : status === "inactive" ? "403 inactive_api_key" : "401 unauthorized";
            const expected = all.map((_, index) => (index === all.length - 1 ? last : "401 unauthorized"));
            const answers = await Promise.all(all.map(async (key) => verdict(await send("GET /labels", { key }))));
            expect(answers).toEqual(expected);
          }
        }
      }),
      { numRuns: 40 },
    );
  });
});
