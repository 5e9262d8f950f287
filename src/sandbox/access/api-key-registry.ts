import { createHash } from "node:crypto";
import { PigeonholeError } from "../../base/error.js";
import { type OptionsOf, defineOptions, given, oneOf, readBy, required } from "../../base/options.js";
import { KEY_LIMITS } from "../../contract/keys.js";
import { SCOPES } from "../../contract/scopes.js";
import { type Clock, systemClock } from "../../base/clock.js";
import { OWNER, actorOf } from "./actor.js";
import { type KeyChange, KeyLog } from "./key-log.js";
import { type ApiKeyRow, type KeyState, type KeyUse, keyStateOf } from "./api-key-row.js";
import type { Reach } from "./reach.js";
import type { RoleBook } from "./role-book.js";
import type { Allowlists } from "./allowlists.js";
import { checkTexts } from "../../base/option-check.js";
import { type MakeId, createMakeId } from "../api/make-id.js";
import { Collection, type CollectionList } from "../api/collection.js";
import type { Caller } from "../api/api-handlers.js";
import type { PageBody } from "../api/page-rows.js";

/** An API key that the sandbox knows. See docs/service.md#api-keys. */
export interface SandboxApiKey {
  /** The whole token: `svc_live_` and a secret, for test keys too. */
  token: string;
  /** 1 to 60 characters. @default "Sandbox key" */
  name?: string | undefined;
  /** Events stored with a test key start nothing. @default "live" */
  mode?: "live" | "test" | undefined;
  /** Scopes of the key. @default every scope but `keys:manage` */
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

/** What the keys of a workspace need of it. */
interface RegistryOptions {
  /** @default the machine's clock */
  clock?: Clock | undefined;
  /** The roles that cap keys, and the members that access tokens act for. @default no roles */
  roles?: RoleBook | undefined;
  /** Makes the tokens of keys that the API makes or rotates. @default from a seed of its own */
  makeId?: MakeId | undefined;
  /** Most rows of the log of calls, and of that of changes. @default 100,000 */
  maxLogRows?: number | undefined;
}

/** An access token of an app that the owner or a member connected. */
interface AppRow extends Allowlists {
  id: string;
  scopes: readonly string[];
  member: string | undefined;
  isVerified: boolean;
}

/** What a new key is made of. */
interface NewKey extends Reach {
  name: string;
  /** @default made */
  token?: string;
}

/** What changes in a key. */
type KeyPatch = Partial<Omit<ApiKeyRow, "id" | "createdAt" | "createdBy">>;

/** The API keys of the workspace and the access tokens of apps, by token. See docs/service.md#api-keys. */
export class ApiKeyRegistry implements SandboxApiKeys {
  readonly #clock: Clock;
  readonly #roles: RoleBook | undefined;
  readonly #makeId: MakeId;
  readonly #keys = new Collection<ApiKeyRow>({ kind: "api_key" });
  readonly #uses = new Map<string, KeyUse>();
  readonly #apps = new Map<string, AppRow>();
  readonly #given: readonly SandboxApiKey[];
  #made = 0;
  /** What keys that were deleted were narrowed to, since their history stays visible to the same callers. */
  readonly #deleted = new Map<string, Allowlists>();
  /** The calls of keys, and what was done to them. */
  readonly log: KeyLog;

  /**
   * Throws `invalid_option` for an unknown field, for a token that no client could send, and for one that already
   * exists.
   */
  constructor(keys: readonly SandboxApiKey[] = [], options: RegistryOptions = {}) {
    const { clock = systemClock, roles, makeId, maxLogRows: maxRows = 100_000 } = options;
    this.#clock = clock;
    this.#roles = roles;
    this.#makeId = makeId ?? createMakeId("api keys");
    this.log = new KeyLog({ clock, nameOf: (id) => this.#keys.find(id)?.name, maxRows });
    this.#given = keys;
    for (const key of keys) this.add(key);
  }

  /** Adds a key and returns its rights. Throws like the constructor. */
  add(key: SandboxApiKey): Caller {
    const { token, member, name, ...rights } = API_KEY_OPTIONS.resolve(key, { prefix: "An API key of the sandbox: " });
    this.#checkToken(token);
    if (member !== undefined) {
      const { scopes, addressAllowlist, domainAllowlist } = rights;
      return this.addApp(token, { scopes, addressAllowlist, domainAllowlist, member, isVerified: false });
    }
    const unlimited = { roleId: null, expiresAtMs: null };
    return this.#callerOf(this.make({ token, name, ...rights, ...unlimited }, undefined));
  }

  /** Undefined if the token is unknown. */
  find(token: string): KnownKey | undefined {
    const app = this.#apps.get(token);
    if (app !== undefined) return { caller: this.#callerOfApp(app), status: "active" };
    const row = this.#rowOf(token);
    return row === undefined ? undefined : { caller: this.#callerOf(row), status: keyStateOf(row, this.#clock.now()) };
  }

  /** Throws `invalid_argument` when no key has this token. */
  setStatus(token: string, status: ApiKeyStatus): void {
    const row = this.#rowOf(token);
    if (row === undefined) throw new PigeonholeError("invalid_argument", "The sandbox has no such API key.");
    const at = this.#now();
    const patches: Record<ApiKeyStatus, [KeyChange, KeyPatch]> = {
      active: ["reactivated", { enabled: true, deactivatedAt: null, revokedAt: null, revokedReason: null }],
      inactive: ["deactivated", { enabled: false, deactivatedAt: at, revokedAt: null, revokedReason: null }],
      revoked: ["revoked", { revokedAt: at }],
    };
    this.change(row.id, patches[status], undefined);
  }

  /** Every key, oldest first. */
  get rows(): readonly ApiKeyRow[] {
    return this.#keys.rows;
  }

  /** One page of the keys that are visible, newest first. Throws 400 `invalid_cursor`. */
  page(query: Omit<CollectionList<ApiKeyRow>, "list">): PageBody<ApiKeyRow> {
    return this.#keys.page({ list: "keys", ...query });
  }

  /** Throws 404 `resource_not_found`, also for a key that the caller does not see. */
  get(id: string, isVisible?: (row: ApiKeyRow) => boolean): ApiKeyRow {
    return this.#keys.get(id, isVisible);
  }

  /** What a key was narrowed to, also once it was deleted; undefined for a key that never was. */
  listsOf(id: string): Allowlists | undefined {
    return this.#keys.find(id) ?? this.#deleted.get(id);
  }

  /** Makes a key. `caller`: undefined for one that is made by hand. */
  make({ token, ...key }: NewKey, caller: Caller | undefined): ApiKeyRow {
    const at = this.#now();
    const actor = caller === undefined ? OWNER : actorOf(caller);
    this.#made += 1;
    const id = token === undefined ? this.#makeId.hex(`api key ${this.#made}`) : keyIdOf(token);
    const row = {
      token: token ?? this.#tokenOf(id, 0),
      ...key,
      enabled: true,
      revokedReason: null,
      createdAt: at,
      updatedAt: at,
      rotatedAt: null,
      deactivatedAt: null,
      revokedAt: null,
      rotationCount: 0,
      createdBy: actor,
      updatedBy: actor,
      lastChangeAt: at,
      lastChangeType: "created",
    } as const;
    const made = this.#keys.add(row, id);
    this.#note(id, "created", caller);
    return made;
  }

  /** Changes a key. `caller`: undefined for what is done by hand. */
  change(id: string, [kind, patch]: readonly [KeyChange, KeyPatch], caller: Caller | undefined): ApiKeyRow {
    const at = this.#now();
    const updatedBy = caller === undefined ? OWNER : actorOf(caller);
    const noted = { updatedAt: at, updatedBy, lastChangeAt: at, lastChangeType: kind };
    const row = this.#keys.change(id, { ...patch, ...noted });
    this.#note(id, kind, caller);
    return row;
  }

  /** Gives a key another token; the old one is unknown from now on. */
  rotate(id: string, caller: Caller): ApiKeyRow {
    const rotationCount = this.get(id).rotationCount + 1;
    const token = this.#tokenOf(id, rotationCount);
    return this.change(id, ["rotated", { token, rotationCount, rotatedAt: this.#now() }], caller);
  }

  /** Gives keys of one role another one. Returns how many there were, with those that are revoked. */
  moveRole(from: string, to: string): number {
    const held = this.rows.filter(({ roleId }) => roleId === from);
    for (const { id } of held) this.#keys.change(id, { roleId: to });
    return held.length;
  }

  /** Deletes a key and returns its tombstone. Its history stays. */
  delete(id: string, caller: Caller): object {
    const { addressAllowlist, domainAllowlist } = this.get(id);
    const tombstone = this.#keys.delete(id);
    this.#uses.delete(id);
    this.#deleted.set(id, { addressAllowlist, domainAllowlist });
    this.#note(id, "deleted", caller);
    return tombstone;
  }

  /** How often a key was used. */
  useOf(id: string): KeyUse {
    return this.#uses.get(id) ?? { totalUses: 0, lastUsedAt: null };
  }

  /** Counts a call of a key, once it is authenticated. */
  countUse({ kind, keyId }: Caller): void {
    if (kind !== "key") return;
    this.#uses.set(keyId, { totalUses: this.useOf(keyId).totalUses + 1, lastUsedAt: this.#now() });
  }

  /** Notes that a known key was refused: it is switched off, revoked or expired. */
  noteRefusal(caller: Caller): void {
    if (caller.kind === "key") this.#note(caller.keyId, "authentication_refused", caller);
  }

  /** Adds an access token of an app, and returns its rights. */
  addApp(token: string, app: Omit<AppRow, "id">): Caller {
    const row = { ...app, id: keyIdOf(token) };
    this.#apps.set(token, row);
    return this.#callerOfApp(row);
  }

  /** Back to the keys of the options. */
  reset(): void {
    this.#keys.clear();
    this.#apps.clear();
    for (const part of [this.#uses, this.#deleted, this.log]) part.clear();
    for (const key of this.#given) this.add(key);
  }

  #checkToken(token: unknown): void {
    const refuse = (message: string): never => {
      throw new PigeonholeError("invalid_option", message);
    };
    if (typeof token !== "string" || !/^[!-~]{1,500}$/.test(token)) {
      return refuse("An API key of the sandbox must be 1 to 500 visible ASCII characters.");
    }
    if (this.find(token) !== undefined) refuse("Two API keys of the sandbox are the same.");
    if (this.#keys.find(keyIdOf(token)) === undefined) return;
    refuse("Two API keys of the sandbox have the same id, the 24 hex characters after svc_live_.");
  }

  /** The row whose present token it is. */
  #rowOf(token: string): ApiKeyRow | undefined {
    return this.rows.find((row) => row.token === token);
  }

  #tokenOf(id: string, rotationCount: number): string {
    return `svc_live_${id}${this.#makeId.hex(`api key secret ${id} ${rotationCount}`)}`;
  }

  /** A role narrows a key's scopes at every call, as the role is then. */
  #callerOf(row: ApiKeyRow): Caller {
    const { id, mode, name, roleId, expiresAtMs, addressAllowlist, domainAllowlist } = row;
    const ceiling = roleId === null ? undefined : (this.#roles?.find(roleId)?.permissions ?? []);
    return {
      kind: "key",
      keyId: id,
      name,
      mode,
      scopes: narrow(row.scopes, ceiling),
      member: undefined,
      roleId,
      expiresAtMs,
      isVerified: true,
      addressAllowlist,
      domainAllowlist,
    };
  }

  #callerOfApp(app: AppRow): Caller {
    const { id, member, isVerified, addressAllowlist, domainAllowlist } = app;
    const role = member === undefined ? undefined : this.#roles?.roleOf(member);
    return {
      kind: "app",
      keyId: id,
      name: member ?? "owner",
      mode: "live",
      scopes: narrow(app.scopes, role?.permissions),
      member,
      roleId: role?.id ?? null,
      expiresAtMs: null,
      isVerified,
      addressAllowlist,
      domainAllowlist,
    };
  }

  #now(): string {
    return new Date(this.#clock.now()).toISOString();
  }

  #note(keyId: string, kind: KeyChange, caller: Caller | undefined): void {
    const [actor, source] = caller === undefined ? ([OWNER, "app"] as const) : ([actorOf(caller), "api"] as const);
    this.log.addChange({ keyId, kind, actor, source });
  }
}

/** The scopes that a ceiling lets through; all of them without one. */
function narrow(scopes: readonly string[], ceiling: readonly string[] | undefined): readonly string[] {
  return ceiling === undefined ? scopes : scopes.filter((scope) => ceiling.includes(scope));
}

/** An option that is the name of a key or of a member. */
export function checkName(option: string, name: string): string {
  if (typeof name === "string" && name.length >= 1 && name.length <= KEY_LIMITS.nameLength) return name;
  throw new PigeonholeError("invalid_option", `${option} must be a text of 1 to ${KEY_LIMITS.nameLength} characters.`);
}

/** A token of the service's shape: its id, and what the id does not reveal. */
const TOKEN = /^svc_live_([0-9a-f]{24})./;

/** The id of a token, as the service shows it; of a token of any other shape a digest, so that no log reveals it. */
function keyIdOf(token: string): string {
  return TOKEN.exec(token)?.[1] ?? createHash("sha256").update(token).digest("hex").slice(0, 24);
}
