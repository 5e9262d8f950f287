import type { CredentialShape } from "../../contract/credential-shape.js";
import type { Operation } from "../../contract/operation.js";
import { type ScopeRule, allowsScopes, describeScopes } from "../../contract/scopes.js";
import { isUnlimited } from "../access/allowlists.js";
import { SandboxApiError, type Caller } from "../api/api-handlers.js";
import type { ApiKeyRegistry } from "../access/api-key-registry.js";

/** The caller behind a credential; throws 401 or 403 `inactive_api_key`. The code of a 401 is assumed. */
export function authenticate(
  headers: Readonly<Record<string, string | undefined>>,
  keys: ApiKeyRegistry,
  shape: CredentialShape,
): Caller {
  const credential = headers[shape.header.toLowerCase()];
  if (credential === undefined) {
    throw unauthorized(`The header ${shape.header} is missing; it must hold "${shape.prefix}" and an API key.`);
  }
  // HTTP compares the scheme of a credential without case.
  if (!credential.toLowerCase().startsWith(shape.prefix.toLowerCase())) {
    throw unauthorized(`The header ${shape.header} must begin with "${shape.prefix}".`);
  }
  const key = keys.find(credential.slice(shape.prefix.length).trim());
  if (key === undefined) throw unauthorized("The API key is not valid.");
  const { caller, status } = key;
  if (status !== "active") keys.noteRefusal(caller);
  if (status === "revoked" || status === "expired") throw unauthorized(`The API key is ${status}.`);
  if (status === "inactive") throw new SandboxApiError({ code: "inactive_api_key" });
  keys.countUse(caller);
  return caller;
}

/**
 * Throws 403 unless the caller may make the call: `owner_only` for a member's access token, `insufficient_scope`, and
 * `step_up_required` for an access token whose person has not verified a code. See docs/service.md#callers.
 */
export function requireAuthority(caller: Caller, { ownerOnly, scope, stepUp }: Operation): void {
  if (ownerOnly === true && caller.member !== undefined) throw new SandboxApiError({ code: "owner_only" });
  requireScope(caller, scope);
  if (stepUp !== true || caller.isVerified) return;
  throw new SandboxApiError({ code: "step_up_required" });
}

/** Throws 403 `insufficient_scope` unless the key has the scopes that the rule asks for. */
export function requireScope(caller: Caller, rule: ScopeRule): void {
  if (allowsScopes(rule, caller.scopes)) return;
  throw new SandboxApiError({
    code: "insufficient_scope",
    message: `The API key needs the scope ${describeScopes(rule)}.`,
  });
}

/**
 * Throws 422 `capability_unsupported` for a caller of some addresses where every route is closed to it, whatever it
 * asks for. See docs/service.md#chats and docs/service.md#contacts.
 */
export function requireOpen(caller: Caller, { closedToSome }: Operation): void {
  if (closedToSome === undefined || isUnlimited(caller)) return;
  if (closedToSome === "members" && caller.member === undefined) return;
  throw new SandboxApiError({ code: "capability_unsupported", param: "addressAllowlist" });
}

function unauthorized(message: string): SandboxApiError {
  return new SandboxApiError({ status: 401, code: "unauthorized", message });
}
