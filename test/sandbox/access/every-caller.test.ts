import { createClient } from "pigeonhole/client";
import type { Sandbox } from "pigeonhole/sandbox";
import { describe, expect, test } from "vitest";
import type { Operation } from "#pigeonhole/contract/operation.js";
import { SCOPES, allowsScopes } from "#pigeonhole/contract/scopes.js";
import { callerOf, verdict } from "../api/support.js";
import { BEFORE, type CallerRules, exampleWorkspace, MAKERS, MEMBERS, NARROWED } from "../resources/operation-cases.js";
import { ALL_ROWS, type CallRow, SUPPORT, requestOf } from "../resources/support.js";
import { HOUR, openSandbox } from "../support.js";

// Every operation, by every kind of caller, on a workspace that the owner has filled: allowed (its usual status),
// refused with a status and a code, or invisible (404).

/** One kind of caller. */
interface CallerKind {
  /** Its token; null for a call without one. */
  make: (sandbox: Sandbox) => string | null;
  /** What the caller is answered whatever it calls; undefined when it is authenticated. */
  refused?: string;
  scopes?: readonly string[];
  isMember?: true;
  isApp?: true;
  isVerified?: true;
  /** What it is answered otherwise than a caller who reaches everything; first match. Each line is a rule. */
  rules?: CallerRules;
}

const VIEWER_READS = ["labels:read", "drafts:read", "threads:read", "contacts:read", "files:read", "forms:read"];
const NARROW = { addressAllowlist: [SUPPORT] };

const OFF = (status: "inactive" | "revoked") => (sandbox: Sandbox) => {
  const token = sandbox.callers.key();
  sandbox.apiKeys.setStatus(token, status);
  return token;
};

const CALLERS: Readonly<Record<string, CallerKind>> = {
  nobody: { make: () => null, refused: "401 unauthorized" },
  "an unknown token": { make: () => "svc_live_unknown", refused: "401 unauthorized" },
  "a revoked key": { make: OFF("revoked"), refused: "401 unauthorized" },
  "a key that is switched off": { make: OFF("inactive"), refused: "403 inactive_api_key" },
  "an expired key": {
    make: ({ callers }) => callers.key({ expiresInMinutes: 30 }),
    refused: "401 unauthorized",
  },
  "a live key with every scope": { make: ({ callers }) => callers.key({ scopes: SCOPES }), scopes: SCOPES },
  "a live key with no scope": { make: ({ callers }) => callers.key({ scopes: [] }), scopes: [] },
  "a key under the role Viewer": {
    make: ({ callers }) => callers.key({ scopes: SCOPES, role: "Viewer" }),
    scopes: [
      ...VIEWER_READS,
      ...SCOPES.filter((scope) => /^(?:emails|labels|rules|calendar|templates|audiences|settings):read$/.test(scope)),
    ],
  },
  "a test key": {
    make: ({ callers }) => callers.key({ scopes: SCOPES, mode: "test" }),
    scopes: SCOPES,
    // A key is always live, and so is what the owner made.
    rules: [[/^keys\.(?:create|update|rotate|revoke|delete)$/, "403 beyond_caller_authority"]],
  },
  "a key of one address": {
    make: ({ callers }) => callers.key({ scopes: SCOPES, ...NARROW }),
    scopes: SCOPES,
    rules: NARROWED,
  },
  "an app of the owner": {
    make: ({ callers }) => callers.owner({ scopes: SCOPES }),
    scopes: SCOPES,
    isApp: true,
    rules: [[/^keys\.rotateSelf$/, "404 resource_not_found"]],
  },
  "an app of the owner with no scope": {
    make: ({ callers }) => callers.owner({ scopes: [] }),
    scopes: [],
    isApp: true,
  },
  "an app of the owner who has verified a code": {
    make: ({ callers }) => callers.owner({ scopes: SCOPES, verified: true }),
    scopes: SCOPES,
    isApp: true,
    isVerified: true,
    rules: [[/^keys\.rotateSelf$/, "404 resource_not_found"]],
  },
  "an app of a member": {
    make: ({ callers }) => callers.member({ scopes: SCOPES, role: "Admin" }),
    scopes: SCOPES.filter((scope) => scope !== "keys:manage"),
    isApp: true,
    isMember: true,
    rules: MEMBERS,
  },
  "an app of a member with the role Viewer": {
    make: ({ callers }) => callers.member({ scopes: ["drafts:write", "labels:read"], role: "Viewer" }),
    scopes: ["labels:read"],
    isApp: true,
    isMember: true,
  },
  "an app of a member of one address": {
    make: ({ callers }) => callers.member({ scopes: SCOPES, role: "Admin", ...NARROW }),
    scopes: SCOPES.filter((scope) => scope !== "keys:manage"),
    isApp: true,
    isMember: true,
    rules: [
      [/^(?:contacts\.|contactEvents\.(?:send|sendBatch|list)$)/, "422 capability_unsupported"],
      ...MEMBERS,
      ...NARROWED,
    ],
  },
};

/** What the documents say that a caller is answered. */
function answerFor({ call, operation }: CallRow, caller: CallerKind): string {
  const { scope, ownerOnly, stepUp, status, credential } = operation;
  if (credential === "none") return String(status[0]);
  if (caller.refused !== undefined) return caller.refused;
  if (ownerOnly === true && caller.isMember === true) return "403 owner_only";
  if (!allowsScopes(scope, caller.scopes ?? [])) return "403 insufficient_scope";
  if (stepUp === true && caller.isApp === true && caller.isVerified !== true) return "403 step_up_required";
  const rule = caller.rules?.find(([calls]) => calls.test(call));
  return rule?.[1] ?? String(status[0]);
}

/** The answers to a row's example, by one caller after the other, on what the owner has made for it. */
async function answersOf(
  { call, resource, operation }: CallRow,
  names: readonly string[],
): Promise<[string, string][]> {
  const sandbox = openSandbox(exampleWorkspace());
  const tokens = names.map((name) => [name, CALLERS[name]?.make(sandbox) ?? null] as const);
  await sandbox.advance(HOUR);
  const client = createClient(sandbox.clientOptions);
  const made = await MAKERS[resource](client);
  const ids = { ...made, ...(await BEFORE[call]?.(client, made, sandbox)) };
  const { line, init } = requestOf(operation, { params: ids, query: queryOf(operation, ids) });
  const send = callerOf((url, request) => sandbox.fetch(url, request), sandbox.baseUrl);
  const answers: [string, string][] = [];
  for (const [name, key] of tokens) {
    const [status, code] = verdict(await send(line, { ...init, key })).split(" ");
    answers.push([name, [status, code].filter((part) => part !== undefined).join(" ")]);
  }
  return answers;
}

function queryOf({ example }: Operation, ids: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(ids).filter(([name]) => name in (example.query ?? {})));
}

describe("every operation, by every kind of caller", () => {
  test.each(ALL_ROWS)("$call is allowed, refused or invisible as documented", async (row) => {
    const expected = Object.fromEntries(
      Object.entries(CALLERS).map(([name, caller]) => [name, answerFor(row, caller)] as const),
    );
    // Refusals and reads change nothing, so they may be of one workspace.
    const isChange = (name: string) => row.operation.method !== "GET" && (expected[name] ?? "") < "4";
    const names = Object.keys(expected);
    const shares = [names.filter((name) => !isChange(name)), ...names.filter(isChange).map((name) => [name])];
    const answers = await Promise.all(shares.map((share) => answersOf(row, share)));
    expect(Object.fromEntries(answers.flat())).toEqual(expected);
  });

  test("each rule of a caller is about an operation that there is", () => {
    for (const [calls] of Object.values(CALLERS).flatMap(({ rules = [] }) => rules)) {
      expect(
        ALL_ROWS.some(({ call }) => calls.test(call)),
        String(calls),
      ).toBe(true);
    }
  });
});
