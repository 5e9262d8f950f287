import type { CredentialShape } from "../../contract/credential-shape.js";
import { type ScopeRule, allowsScopes, describeScopes } from "../../contract/scopes.js";
import { SandboxApiError, type Caller } from "./api-handlers.js";
import type { ApiKeyRegistry } from "./api-key-registry.js";

/** The caller behind a credential; throws 401 or 403 `inactive_api_key`. The code of a 401 is assumed. */
export function authenticate(credential: string | undefined, keys: ApiKeyRegistry, shape: CredentialShape): Caller {
  if (credential === undefined) {
    throw unauthorized(`The header ${shape.header} is missing; it must hold "${shape.prefix}" and an API key.`);
  }
  // HTTP compares the scheme of a credential without case.
  if (!credential.toLowerCase().startsWith(shape.prefix.toLowerCase())) {
    throw unauthorized(`The header ${shape.header} must begin with "${shape.prefix}".`);
  }
  const key = keys.find(credential.slice(shape.prefix.length).trim());
  if (key === undefined || key.status === "revoked") throw unauthorized("The API key is not valid.");
  if (key.status === "inactive") {
    throw new SandboxApiError({ code: "inactive_api_key", message: "The API key is switched off." });
  }
  return key.caller;
}

/** Throws 403 `insufficient_scope` unless the key has the scopes that the rule asks for. */
export function requireScope(caller: Caller, rule: ScopeRule): void {
  if (allowsScopes(rule, caller.scopes)) return;
  throw new SandboxApiError({
    code: "insufficient_scope",
    message: `The API key needs the scope ${describeScopes(rule)}.`,
  });
}

function unauthorized(message: string): SandboxApiError {
  return new SandboxApiError({ status: 401, code: "unauthorized", message });
}
