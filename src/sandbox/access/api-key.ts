import { checkTexts } from "../../base/option-check.js";
import { PigeonholeError } from "../../base/error.js";
import { type OptionsOf, defineOptions, given, oneOf, readBy, required } from "../../base/options.js";
import { KEY_LIMITS } from "../../contract/keys.js";
import { SCOPES } from "../../contract/scopes.js";
import { type Caller, SandboxApiError } from "../api/api-handlers.js";
import type { CollectionRow } from "../api/collection.js";
import type { Actor } from "./actor.js";
import { type Allowlists, holdsAllowlists } from "./allowlists.js";
import type { KeyChange } from "./key-log.js";

/** What a caller may do. */
export interface CallerRights {
  /** Scopes of the caller. @default every scope but `keys:manage` */
  scopes?: readonly string[] | undefined;
  /** Limits the caller to these addresses. With both lists empty, every address. @default [] */
  addressAllowlist?: readonly string[] | undefined;
  /** Limits the caller to these domains. @default [] */
  domainAllowlist?: readonly string[] | undefined;
}

/** An API key that the sandbox knows. See docs/service.md#api-keys. */
export interface SandboxApiKey extends CallerRights {
  /** The whole token: `svc_live_` and a secret, for test keys too. */
  token: string;
  /** 1 to 60 characters. @default "Sandbox key" */
  name?: string | undefined;
  /** Events stored with a test key start nothing. @default "live" */
  mode?: "live" | "test" | undefined;
  /**
   * Name of a member, for an access token of an app that the member connected. @default none: it acts for the owner, as
   * every API key does
   */
  member?: string | undefined;
}

/** What a key can be switched to. `inactive`: 403 `inactive_api_key`; `revoked`: 401, as an unknown key. */
export type ApiKeyStatus = "active" | "inactive" | "revoked";

/** A key without its token. */
export interface KnownKey {
  /** What the key may do. */
  caller: Caller;
  /** Whether the key works; see docs/service.md#api-keys. */
  status: KeyState;
}

/** The API keys that calls may use, by hand. */
export interface SandboxApiKeys {
  /** Adds a key and returns its rights. Throws `invalid_option` for one that cannot be. */
  add(key: SandboxApiKey): Caller;
  /** Undefined if the token is unknown. */
  find(token: string): KnownKey | undefined;
  /** Switches a key off or on, or revokes it. Throws `invalid_argument` when no key has this token. */
  setStatus(token: string, status: ApiKeyStatus): void;
}

/** Every scope but `keys:manage`: no key can make keys unless it was given that scope by name. */
export const ALL_SCOPES: readonly string[] = SCOPES.filter((scope) => scope !== "keys:manage");

/** True for a scope that the service has. */
export function isScope(text: string): boolean {
  const known: readonly string[] = SCOPES;
  return known.includes(text);
}

/** The defaults and checks of {@link SandboxApiKey}. A misspelt field would give a key more rights than intended. */
export const API_KEY_OPTIONS = defineOptions("An API key of the sandbox", {
  token: required<string>(),
  name: readBy(checkName, { default: "Sandbox key" }),
  mode: oneOf(["live", "test"], { default: "live" }),
  scopes: readBy(checkTexts, { default: ALL_SCOPES }),
  member: given<string>(),
  addressAllowlist: readBy(checkTexts, { default: [] }),
  domainAllowlist: readBy(checkTexts, { default: [] }),
} satisfies OptionsOf<SandboxApiKey>);

/** An option that is the name of a key or of a member. */
export function checkName(option: string, name: string): string {
  if (typeof name === "string" && name.length >= 1 && name.length <= KEY_LIMITS.nameLength) return name;
  throw new PigeonholeError("invalid_option", `${option} must be a text of 1 to ${KEY_LIMITS.nameLength} characters.`);
}

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

/** An API key of the workspace with its token. */
export interface ApiKeyRow extends CollectionRow, Reach {
  token: string;
  name: string;
  /** False: switched off. */
  enabled: boolean;
  revokedReason: string | null;
  createdAt: string;
  updatedAt: string;
  rotatedAt: string | null;
  deactivatedAt: string | null;
  revokedAt: string | null;
  rotationCount: number;
  createdBy: Actor;
  updatedBy: Actor;
  lastChangeAt: string;
  lastChangeType: KeyChange;
  totalUses: number;
  lastUsedAt: string | null;
}

/** What a key's calls are answered. See docs/service.md#api-keys. */
export type KeyState = "active" | "inactive" | "expired" | "revoked";

/** The state of a key at a time. */
export function keyStateOf({ revokedAt, expiresAtMs, enabled }: ApiKeyRow, nowMs: number): KeyState {
  if (revokedAt !== null) return "revoked";
  if (expiresAtMs !== null && expiresAtMs <= nowMs) return "expired";
  return enabled ? "active" : "inactive";
}
