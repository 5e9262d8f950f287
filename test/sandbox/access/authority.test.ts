import { expect, test } from "vitest";
import type { Operation } from "#pigeonhole/contract/operation.js";
import { CONTRACT } from "#pigeonhole/contract/contract.js";
import type { Caller } from "#pigeonhole/sandbox/api/api-handlers.js";
import { requireAuthority } from "#pigeonhole/sandbox/calls/authenticate.js";
import { refusalOf } from "../../support/error-of.js";

const KEY: Caller = {
  kind: "key",
  keyId: "0".repeat(24),
  name: "Orders",
  mode: "live",
  scopes: ["labels:read"],
  member: undefined,
  roleId: null,
  expiresAtMs: null,
  isVerified: true,
  addressAllowlist: [],
  domainAllowlist: [],
};
const APP: Caller = { ...KEY, kind: "app", isVerified: false };
const OF_MEMBER: Caller = { ...APP, member: "grace" };

const OPEN: Operation = CONTRACT.labels.list;
const OWNERS: Operation = { ...OPEN, ownerOnly: true };
const STEP_UP: Operation = { ...OWNERS, stepUp: true };

test.each<[what: string, caller: Caller, operation: Operation, code: string | undefined]>([
  ["a key makes a call", KEY, OPEN, undefined],
  ["a key makes a call of the owner, and is never asked for a code", KEY, STEP_UP, undefined],
  ["a key without the scope", { ...KEY, scopes: [] }, OPEN, "insufficient_scope"],
  ["an app makes a call of the owner", APP, OWNERS, undefined],
  ["an app without a code", APP, STEP_UP, "step_up_required"],
  ["an app with a code", { ...APP, isVerified: true }, STEP_UP, undefined],
  ["an app without the scope is not asked for a code", { ...APP, scopes: [] }, STEP_UP, "insufficient_scope"],
  ["an app of a member makes a call", OF_MEMBER, OPEN, undefined],
  ["an app of a member makes a call of the owner", OF_MEMBER, OWNERS, "owner_only"],
  ["an app of a member with a code", { ...OF_MEMBER, isVerified: true }, STEP_UP, "owner_only"],
  ["an app of a member without the scope", { ...OF_MEMBER, scopes: [] }, OWNERS, "owner_only"],
])("%s: the first refusal counts", async (_, caller, operation, code) => {
  if (code === undefined) expect(requireAuthority(caller, operation)).toBeUndefined();
  else expect(await refusalOf(() => requireAuthority(caller, operation))).toEqual({ status: 403, code });
});
