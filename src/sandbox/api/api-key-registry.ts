import { createHash } from "node:crypto";
import { PigeonholeError } from "../../base/error.js";
import { type OptionsOf, defineOptions, given, oneOf, readBy, required } from "../../base/options.js";
import { SCOPES } from "../../contract/scopes.js";
import type { Caller } from "./api-handlers.js";

/** An API key that the sandbox knows. See docs/service.md#api-keys. */
export interface SandboxApiKey {
  /** The whole token: `svc_live_` and a secret, for test keys too. */
  token: string;
  /** Events stored with a test key start nothing. @default "live" */
  mode?: "live" | "test" | undefined;
  /** What the key may do. @default every scope but `keys:manage` */
  scopes?: readonly string[] | undefined;
  /**
   * Name of a member, for an access token of an app that the member connected. @default none: it acts for the owner, as
   * every API key does
   */
  member?: string | undefined;
  /** Send scope: these addresses only. With both lists empty, every address. @default [] */
  addressAllowlist?: readonly string[] | undefined;
  /** Send scope: these domains only. @default [] */
  domainAllowlist?: readonly string[] | undefined;
}

/** `inactive` is switched off (403 `inactive_api_key`); `revoked` is like an unknown key (401). */
export type ApiKeyStatus = "active" | "inactive" | "revoked";

/** A key without its token. */
export interface KnownKey {
  /** What the key may do. */
  caller: Caller;
  /** Whether the key works; see docs/service.md#api-keys. */
  status: ApiKeyStatus;
}

/** Every scope but `keys:manage`: no key can make keys unless it was given that scope by name. */
export const ALL_SCOPES: readonly string[] = SCOPES.filter((scope) => scope !== "keys:manage");

/** The defaults and checks of {@link SandboxApiKey}. A misspelt field would give a key more rights than intended. */
export const API_KEY_OPTIONS = defineOptions("An API key of the sandbox", {
  token: required<string>(),
  mode: oneOf(["live", "test"], { default: "live" }),
  scopes: readBy(checkTexts, { default: ALL_SCOPES }),
  member: given<string>(),
  addressAllowlist: readBy(checkTexts, { default: [] }),
  domainAllowlist: readBy(checkTexts, { default: [] }),
} satisfies OptionsOf<SandboxApiKey>);

/** Keys by token. */
export class ApiKeyRegistry {
  readonly #keys = new Map<string, KnownKey>();

  /**
   * Throws `invalid_option` for an unknown field, for a token that no client could send, and for one that already
   * exists.
   */
  constructor(keys: readonly SandboxApiKey[] = []) {
    for (const key of keys) this.add(key);
  }

  /** Adds a key and returns its rights. Throws like the constructor. */
  add(key: SandboxApiKey): Caller {
    const { token, ...rights } = API_KEY_OPTIONS.resolve(key, { prefix: "An API key of the sandbox: " });
    if (typeof token !== "string" || !/^[!-~]{1,500}$/.test(token)) {
      throw new PigeonholeError(
        "invalid_option",
        "An API key of the sandbox must be 1 to 500 visible ASCII characters.",
      );
    }
    if (this.#keys.has(token)) throw new PigeonholeError("invalid_option", "Two API keys of the sandbox are the same.");
    const caller = { keyId: keyIdOf(token), ...rights };
    if ([...this.#keys.values()].some((known) => known.caller.keyId === caller.keyId)) {
      throw new PigeonholeError(
        "invalid_option",
        "Two API keys of the sandbox have the same id, the 24 hex characters after svc_live_.",
      );
    }
    this.#keys.set(token, { caller, status: "active" });
    return caller;
  }

  /** Undefined if the token is unknown. */
  find(token: string): KnownKey | undefined {
    return this.#keys.get(token);
  }

  /** Throws `invalid_argument` when no key has this token. */
  setStatus(token: string, status: ApiKeyStatus): void {
    const key = this.#keys.get(token);
    if (key === undefined) throw new PigeonholeError("invalid_argument", "The sandbox has no such API key.");
    key.status = status;
  }
}

function checkTexts(option: string, list: readonly string[]): readonly string[] {
  if (Array.isArray(list) && list.every((entry) => typeof entry === "string")) return list;
  throw new PigeonholeError("invalid_option", `${option} must be a list of strings.`);
}

/** A token of the service's shape: its id, and what the id does not reveal. */
const TOKEN = /^svc_live_([0-9a-f]{24})./;

/** The id of a token, as the service shows it; of a token of any other shape a digest, so that no log reveals it. */
function keyIdOf(token: string): string {
  return TOKEN.exec(token)?.[1] ?? createHash("sha256").update(token).digest("hex").slice(0, 24);
}
