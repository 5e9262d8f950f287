/** What a key can be given, as the service documents it. See docs/service.md#api-keys. */
export const SCOPES = [
  "emails:send",
  "emails:read",
  "drafts:read",
  "drafts:write",
  "threads:read",
  "threads:write",
  "files:read",
  "files:write",
  "labels:read",
  "labels:write",
  "contacts:read",
  "contacts:write",
  "audiences:read",
  "audiences:write",
  "calendar:read",
  "calendar:write",
  "templates:read",
  "templates:write",
  "domains:read",
  "domains:write",
  "webhooks:read",
  "webhooks:write",
  "rules:read",
  "rules:write",
  "connections:read",
  "members:read",
  "members:write",
  "roles:read",
  "roles:write",
  "settings:read",
  "settings:write",
  "keys:write",
  "keys:read",
  "keys:manage",
  "forms:read",
  "forms:write",
  "billing:read",
  "billing:write",
  "account:read",
  "account:write",
  // Not in the vocabulary, but needed by an operation.
  "automations:read",
] as const;

/** A scope of the service. */
export type Scope = (typeof SCOPES)[number];

/** What an operation needs: one scope, any one of several, or none. */
export type ScopeRule = Scope | { readonly anyOf: readonly Scope[] } | null;

/** True when a key with these scopes may call an operation with this rule. */
export function allowsScopes(rule: ScopeRule, held: readonly string[]): boolean {
  if (rule === null) return true;
  if (typeof rule === "string") return held.includes(rule);
  return rule.anyOf.some((scope) => held.includes(scope));
}

/** The rule in words, each scope between `quote`: `keys:write or keys:manage`. */
export function describeScopes(rule: ScopeRule, quote = ""): string {
  if (rule === null) return "none";
  if (typeof rule === "string") return quote + rule + quote;
  return rule.anyOf.map((scope) => quote + scope + quote).join(" or ");
}
