import { type Caller, SandboxApiError } from "../api/api-handlers.js";
import { type Allowlists, holdsAllowlists } from "./allowlists.js";

/** How far a key reaches. */
export interface Reach extends Allowlists {
  scopes: readonly string[];
  roleId: string | null;
  /** Milliseconds since 1970; null for a key that does not expire. */
  expiresAtMs: number | null;
  mode: "live" | "test";
}

/** How each part of a key's reach is compared with the caller's, by the parameter that a refusal names. */
const WITHIN: Readonly<Record<string, (caller: Caller, key: Reach) => boolean>> = {
  scopes: (caller, { scopes }) => scopes.every((scope) => caller.scopes.includes(scope)),
  roleId: (caller, { roleId }) => caller.roleId === null || roleId === caller.roleId,
  expiresInMinutes: ({ expiresAtMs: end }, { expiresAtMs }) =>
    end === null || (expiresAtMs !== null && expiresAtMs <= end),
  mode: (caller, { mode }) => mode === caller.mode,
  addressAllowlist: (caller, key) => holdsAllowlists(caller, key),
};

/** Throws 403 `beyond_caller_authority` for a key that reaches too far. See docs/service.md#key-reach. */
export function requireReach(caller: Caller, key: Reach): void {
  const param = Object.keys(WITHIN).find((axis) => WITHIN[axis]?.(caller, key) === false);
  if (param === undefined) return;
  throw new SandboxApiError({ code: "beyond_caller_authority", param });
}
