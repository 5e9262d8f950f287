import { createHash } from "node:crypto";
import { type Clock, systemClock } from "../../base/clock.js";
import { PigeonholeError } from "../../base/error.js";
import type { Caller } from "../api/api-handlers.js";
import { Collection, type CollectionChanges } from "../api/collection.js";
import { type MakeId, createMakeId } from "../api/make-id.js";
import { isoNow } from "../clock/sandbox-time.js";
import { OWNER, actorOf } from "./actor.js";
import { type Allowlists, normalizeAllowlists } from "./allowlists.js";
import {
  API_KEY_OPTIONS,
  type ApiKeyRow,
  type ApiKeyStatus,
  type KnownKey,
  type Reach,
  type SandboxApiKey,
  type SandboxApiKeys,
  keyStateOf,
} from "./api-key.js";
import { type KeyChange, KeyLog, type LoggedCall, type LoggedChange } from "./key-log.js";
import type { RoleBook } from "./role-book.js";

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

/** What a new key is made of. */
interface NewKey extends Reach {
  name: string;
  /** @default made */
  token?: string;
}

/** What changes in a key. */
type KeyPatch = CollectionChanges<Omit<ApiKeyRow, "createdAt" | "createdBy">>;

/** The API keys of the workspace and the access tokens of apps, by token. See docs/service.md#api-keys. */
export class ApiKeyRegistry implements SandboxApiKeys {
  /** Every key, without the access tokens. */
  readonly all = new Collection<ApiKeyRow>({ kind: "api_key" });
  readonly #clock: Clock;
  readonly #roles: RoleBook | undefined;
  readonly #makeId: MakeId;
  /** Those of apps, with the scopes that they were given, by their token. */
  readonly #apps = new Map<string, Caller>();
  readonly #given: readonly SandboxApiKey[];
  #made = 0;
  /** What keys that were deleted were narrowed to, since their history stays visible to the same callers. */
  readonly #deleted = new Map<string, Allowlists>();
  /** The calls of keys. */
  readonly requests: KeyLog<LoggedCall>;
  /** What was done to keys. */
  readonly changes: KeyLog<LoggedChange>;

  /**
   * Throws `invalid_option` for an unknown field, for a token that no client could send, and for one that already
   * exists.
   */
  constructor(keys: readonly SandboxApiKey[] = [], options: RegistryOptions = {}) {
    const { clock = systemClock, roles, makeId, maxLogRows: maxRows = 100_000 } = options;
    this.#clock = clock;
    this.#roles = roles;
    this.#makeId = makeId ?? createMakeId("api keys");
    const ofLog = { clock, nameOf: (id: string) => this.nameOf(id), maxRows };
    this.requests = new KeyLog({ list: "keys.requests", ...ofLog });
    this.changes = new KeyLog({ list: "keys.activity", ...ofLog });
    this.#given = keys;
    for (const key of keys) this.add(key);
  }

  add(key: SandboxApiKey): Caller {
    const given = API_KEY_OPTIONS.resolve(key, { prefix: "An API key of the sandbox: " });
    const { token, member, name, mode, scopes } = given;
    this.#checkToken(token);
    const rights = { scopes, ...normalizeAllowlists(given) };
    if (member !== undefined) return this.addApp(token, { ...rights, member, isVerified: false });
    return this.#callerOf(this.make({ token, name, mode, ...rights, roleId: null, expiresAtMs: null }, undefined));
  }

  find(token: string): KnownKey | undefined {
    const app = this.#apps.get(token);
    if (app !== undefined) return { caller: this.#narrowedApp(app), status: "active" };
    const row = this.#rowOf(token);
    return row === undefined ? undefined : { caller: this.#callerOf(row), status: keyStateOf(row, this.#clock.now()) };
  }

  setStatus(token: string, status: ApiKeyStatus): void {
    const row = this.#rowOf(token);
    if (row === undefined) throw new PigeonholeError("invalid_argument", "The sandbox has no such API key.");
    const at = isoNow(this.#clock);
    const patches: Record<ApiKeyStatus, [KeyChange, KeyPatch]> = {
      active: ["reactivated", { enabled: true, deactivatedAt: null, revokedAt: null, revokedReason: null }],
      inactive: ["deactivated", { enabled: false, deactivatedAt: at, revokedAt: null, revokedReason: null }],
      revoked: ["revoked", { revokedAt: at }],
    };
    this.change(row.id, patches[status], undefined);
  }

  /** Undefined for a key that there is not. */
  nameOf(id: string): string | undefined {
    return this.all.find(id)?.name;
  }

  /** The token of the first of the options' keys as it is now: a rotation by the API changes it. */
  get firstToken(): string {
    const [{ token } = { token: "" }] = this.#given;
    return this.all.find(keyIdOf(token))?.token ?? token;
  }

  /** What a key was narrowed to, also once it was deleted; undefined for a key that never was. */
  listsOf(id: string): Allowlists | undefined {
    return this.all.find(id) ?? this.#deleted.get(id);
  }

  /** Makes a key. `caller`: undefined for one that is made by hand. */
  make({ token, ...key }: NewKey, caller: Caller | undefined): ApiKeyRow {
    const at = isoNow(this.#clock);
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
      totalUses: 0,
      lastUsedAt: null,
    } as const;
    const made = this.all.add(row, id);
    this.#note(id, "created", caller);
    return made;
  }

  /** Changes a key. `caller`: undefined for what is done by hand. */
  change(id: string, [kind, patch]: readonly [KeyChange, KeyPatch], caller: Caller | undefined): ApiKeyRow {
    const at = isoNow(this.#clock);
    const updatedBy = caller === undefined ? OWNER : actorOf(caller);
    const noted = { updatedAt: at, updatedBy, lastChangeAt: at, lastChangeType: kind };
    const row = this.all.change(id, { ...patch, ...noted });
    this.#note(id, kind, caller);
    return row;
  }

  /** Gives a key another token; the old one is unknown from now on. */
  rotate(id: string, caller: Caller): ApiKeyRow {
    const rotationCount = this.all.get(id).rotationCount + 1;
    const token = this.#tokenOf(id, rotationCount);
    return this.change(id, ["rotated", { token, rotationCount, rotatedAt: isoNow(this.#clock) }], caller);
  }

  /** Gives keys of one role another one. Returns how many there were, with those that are revoked. */
  moveRole(from: string, to: string): number {
    const held = this.all.rows.filter(({ roleId }) => roleId === from);
    for (const { id } of held) this.all.change(id, { roleId: to });
    return held.length;
  }

  /** Deletes a key and returns its tombstone. Its history stays. */
  delete(id: string, caller: Caller): object {
    const { addressAllowlist, domainAllowlist } = this.all.get(id);
    const tombstone = this.all.delete(id);
    this.#deleted.set(id, { addressAllowlist, domainAllowlist });
    this.#note(id, "deleted", caller);
    return tombstone;
  }

  /** Counts a call of a key, once it is authenticated. */
  countUse({ kind, keyId }: Caller): void {
    if (kind !== "key") return;
    const totalUses = this.all.get(keyId).totalUses + 1;
    this.all.change(keyId, { totalUses, lastUsedAt: isoNow(this.#clock) });
  }

  /** Notes that a known key was refused: it is switched off, revoked or expired. */
  noteRefusal(caller: Caller): void {
    if (caller.kind === "key") this.#note(caller.keyId, "authentication_refused", caller);
  }

  /** Adds an access token of an app, and returns its rights. */
  addApp(token: string, app: Pick<Caller, "member" | "isVerified" | "scopes" | keyof Allowlists>): Caller {
    const unlimited = { mode: "live", roleId: null, expiresAtMs: null } as const;
    const caller: Caller = { kind: "app", keyId: keyIdOf(token), name: app.member ?? "owner", ...unlimited, ...app };
    this.#apps.set(token, caller);
    return this.#narrowedApp(caller);
  }

  /** Back to the keys of the options. */
  reset(): void {
    for (const part of [this.all, this.#apps, this.#deleted, this.requests, this.changes]) part.clear();
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
    if (this.all.find(keyIdOf(token)) === undefined) return;
    refuse("Two API keys of the sandbox have the same id, the 24 hex characters after svc_live_.");
  }

  /** The row whose present token it is. */
  #rowOf(token: string): ApiKeyRow | undefined {
    return this.all.rows.find((row) => row.token === token);
  }

  #tokenOf(id: string, rotationCount: number): string {
    return `svc_live_${id}${this.#makeId.hex(`api key secret ${id} ${rotationCount}`)}`;
  }

  /** A role narrows a key's scopes at every call, as the role is then. */
  #callerOf(row: ApiKeyRow): Caller {
    const { id, mode, name, roleId, expiresAtMs, addressAllowlist, domainAllowlist } = row;
    const ceiling = roleId === null ? undefined : (this.#roles?.roles.find(roleId)?.permissions ?? []);
    const rights = { scopes: narrow(row.scopes, ceiling), roleId, expiresAtMs, addressAllowlist, domainAllowlist };
    return { kind: "key", keyId: id, name, mode, member: undefined, isVerified: true, ...rights };
  }

  #narrowedApp(app: Caller): Caller {
    const role = app.member === undefined ? undefined : this.#roles?.roleOf(app.member);
    return { ...app, roleId: role?.id ?? null, scopes: narrow(app.scopes, role?.permissions) };
  }

  #note(keyId: string, kind: KeyChange, caller: Caller | undefined): void {
    const [actor, source] = caller === undefined ? ([OWNER, "app"] as const) : ([actorOf(caller), "api"] as const);
    this.changes.add({ keyId, kind, actor, source });
  }
}

/** The scopes that a ceiling lets through; all of them without one. */
function narrow(scopes: readonly string[], ceiling: readonly string[] | undefined): readonly string[] {
  return ceiling === undefined ? scopes : scopes.filter((scope) => ceiling.includes(scope));
}

/** A token of the service's shape: its id, and what the id does not reveal. */
const TOKEN = /^svc_live_([0-9a-f]{24})./;

/** The id of a token, as the service shows it; of a token of any other shape a digest, so that no log reveals it. */
function keyIdOf(token: string): string {
  return TOKEN.exec(token)?.[1] ?? createHash("sha256").update(token).digest("hex").slice(0, 24);
}
