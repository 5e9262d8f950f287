import { MINUTE } from "../../base/duration.js";
import { type Actor, actorName } from "../access/actor.js";
import { type ApiKeyRow, type Reach, isScope, keyStateOf, requireReach } from "../access/api-key.js";
import type { LogFilter } from "../access/key-log.js";
import { type ApiCall, type ApiHandlers, type Caller, SandboxApiError, invalidParameter } from "../api/api-handlers.js";
import type { Contract } from "../../contract/contract.js";
import {
  type Allowlists,
  type GivenAllowlists,
  holdsAllowlists,
  normalizeAllowlists,
  requireOwnAddresses,
} from "../access/allowlists.js";
import { pageBody } from "../api/page-rows.js";
import { isoNow } from "../clock/sandbox-time.js";
import type { SandboxResource, Workspace } from "./resource.js";

type Params = { id: string };
type CreateCall = ApiCall<Contract["keys"]["create"]>;
type UpdateCall = ApiCall<Contract["keys"]["update"]>;

/** The service's number is not documented. */
const MAX_LIVE_KEYS = 100;

/** The workspace's API keys. See docs/service.md#api-keys. */
export function createKeys(workspace: Workspace): SandboxResource<"keys"> {
  const { clock, owned, keys } = workspace;
  const { bodyOf, withToken, get, reach, seesHistory, wantedOf, checkCap, rotate } = keyRules(workspace);

  const handlers: ApiHandlers["keys"] = {
    list: ({ query, caller }) =>
      pageBody(keys.all.page({ list: "keys", where: (row) => holdsAllowlists(caller, row), ...query }), bodyOf),
    get: ({ params, caller }) => bodyOf(get(params, caller)),
    create(call) {
      const { caller, nowMs, body } = call;
      const wanted = wantedOf(call);
      requireReach(caller, wanted);
      checkCap(nowMs);
      return withToken(keys.make({ name: body.name, ...wanted }, caller));
    },
    update(call) {
      const { params, body, caller } = call;
      checkScopes(body.scopes ?? []);
      checkLists(body, owned);
      const row = reach(params, caller);
      requireNotRevoked(row);
      const wanted = changedReach(row, call);
      requireReach(caller, wanted);
      const { name, scopes, enabled = row.enabled } = body;
      const switched = enabled === row.enabled ? "updated" : enabled ? "reactivated" : "deactivated";
      const deactivatedAt = enabled ? null : (row.deactivatedAt ?? isoNow(clock));
      const { addressAllowlist, domainAllowlist } = wanted;
      const patch = { name, enabled, deactivatedAt, scopes, addressAllowlist, domainAllowlist };
      return bodyOf(keys.change(row.id, [switched, patch], caller));
    },
    rotate: ({ params, caller }) => withToken(rotate(reach(params, caller), caller)),
    // An access token of the owner is no key, so there is none to rotate.
    rotateSelf: ({ caller }) => withToken(rotate(keys.all.get(caller.kind === "key" ? caller.keyId : ""), caller)),
    revoke({ params, body: { reason = null }, caller }) {
      const row = reach(params, caller);
      requireNotRevoked(row);
      return bodyOf(keys.change(row.id, ["revoked", { revokedAt: isoNow(clock), revokedReason: reason }], caller));
    },
    delete({ params, caller }) {
      const row = reach(params, caller);
      if (row.revokedAt !== null) return keys.delete(row.id, caller);
      throw new SandboxApiError({ code: "not_revoked" });
    },
    requests: ({ query, caller }) => keys.requests.page(checkSpan(query), seesHistory(caller)),
    activity: ({ query, caller }) =>
      pageBody(keys.changes.page(checkSpan(query), seesHistory(caller)), ({ source, actor, ...row }) => ({
        ...row,
        actor: actorName(actor, (id) => keys.nameOf(id)),
        detail: { source },
      })),
  };
  return { handlers, rows: () => keys.all.rows.map(bodyOf), reset: () => keys.reset() };
}

/** The key as it is sent, without its token. */
function keyBody(row: ApiKeyRow, { clock, keys, roles }: Workspace): object {
  const { token, enabled: _, expiresAtMs, addressAllowlist, domainAllowlist, ...fields } = row;
  const actorBody = (actor: Actor): object => ({
    type: actor.kind === "person" ? "person" : "api_key",
    id: actor.kind === "person" ? null : actor.id,
    name: actorName(actor, (id) => keys.nameOf(id)),
  });
  return {
    object: "api_key",
    ...fields,
    maskedKey: `svc_live_${row.id.slice(0, 4)}…${token.slice(-4)}`,
    keyLast4: token.slice(-4),
    status: keyStateOf(row, clock.now()),
    roleName: (row.roleId === null ? undefined : roles.roles.find(row.roleId)?.name) ?? null,
    addressAllowlist: addressAllowlist.length === 0 ? null : addressAllowlist,
    domainAllowlist: domainAllowlist.length === 0 ? null : domainAllowlist,
    expiresAt: expiresAtMs === null ? null : new Date(expiresAtMs).toISOString(),
    createdBy: actorBody(row.createdBy),
    updatedBy: actorBody(row.updatedBy),
  };
}

/** What holds for each key, and what a caller may do with it. */
function keyRules(workspace: Workspace) {
  const { clock, owned, keys, roles } = workspace;
  const bodyOf = (row: ApiKeyRow): object => keyBody(row, workspace);
  const withToken = (row: ApiKeyRow): object => ({ ...bodyOf(row), token: row.token });
  /** A key that the caller sees. */
  const get = ({ id }: Params, caller: Caller): ApiKeyRow => keys.all.get(id, (row) => holdsAllowlists(caller, row));
  /** A key that the caller may change: itself, or one that lies in its reach. */
  const reach = (params: Params, caller: Caller): ApiKeyRow => {
    const row = get(params, caller);
    if (!isSelf(row, caller)) requireReach(caller, row);
    return row;
  };
  const seesHistory =
    (caller: Caller) =>
    (id: string): boolean => {
      const lists = keys.listsOf(id);
      return lists !== undefined && holdsAllowlists(caller, lists);
    };
  /** The reach of a key that is to be made. */
  const wantedOf = ({ body, caller, nowMs }: CreateCall): Reach => {
    const { scopes = ["emails:send"], roleId = caller.roleId, expiresInMinutes, ...lists } = body;
    checkScopes(scopes);
    checkLists(lists, owned);
    if (roleId !== null && roles.roles.find(roleId) === undefined) {
      throw new SandboxApiError({ code: "role_not_found", status: 422, param: "roleId" });
    }
    const expiresAtMs = expiresInMinutes === undefined ? caller.expiresAtMs : nowMs + expiresInMinutes * MINUTE;
    return { scopes, roleId, expiresAtMs, mode: "live", ...listsOf(lists, caller) };
  };
  const checkCap = (nowMs: number): void => {
    const live = keys.all.rows.filter((row) => !["revoked", "expired"].includes(keyStateOf(row, nowMs)));
    if (live.length < MAX_LIVE_KEYS) return;
    throw new SandboxApiError({ code: "workspace_limit_reached" });
  };
  const rotate = (row: ApiKeyRow, caller: Caller): ApiKeyRow => {
    requireNotRevoked(row);
    if (keyStateOf(row, clock.now()) === "expired") throw new SandboxApiError({ code: "revoked" });
    return keys.rotate(row.id, caller);
  };
  return { bodyOf, withToken, get, reach, seesHistory, wantedOf, checkCap, rotate };
}

function isSelf({ id }: ApiKeyRow, { kind, keyId }: Caller): boolean {
  return kind === "key" && id === keyId;
}

/**
 * How far a key will reach, as far as the caller's reach is asked: a key that changes itself may keep what it has, and
 * what it sends may only narrow it.
 */
function changedReach(row: ApiKeyRow, { body, caller }: UpdateCall): Reach {
  const { scopes, addressAllowlist = row.addressAllowlist, domainAllowlist = row.domainAllowlist } = body;
  const lists = normalizeAllowlists({ addressAllowlist, domainAllowlist });
  if (!isSelf(row, caller)) return { ...row, ...lists, scopes: scopes ?? row.scopes };
  return { ...caller, ...lists, scopes: scopes ?? [] };
}

/** The lists of a new key: with neither of them, those of the caller. */
function listsOf(given: GivenAllowlists, caller: Caller): Allowlists {
  const isLeftOut = given.addressAllowlist === undefined && given.domainAllowlist === undefined;
  return normalizeAllowlists(isLeftOut ? caller : given);
}

/** Throws 422 for a scope that the service does not have. A client lets scopes pass that are newer than itself. */
function checkScopes(scopes: readonly string[]): void {
  const strange = scopes.findIndex((scope) => !isScope(scope));
  if (strange !== -1) throw invalidParameter(`scopes.${strange}`, "There is no such scope.");
}

/** Throws 422 for an address or a domain that the workspace does not own. */
function checkLists({ addressAllowlist, domainAllowlist = [] }: GivenAllowlists, owned: Workspace["owned"]): void {
  requireOwnAddresses(owned, addressAllowlist);
  const domain = domainAllowlist.findIndex((entry) => !owned.domains.includes(entry.toLowerCase()));
  if (domain !== -1) throw invalidParameter(`domainAllowlist.${domain}`, "Must be a domain of the workspace.");
}

/** Returns the filter. */
function checkSpan<Filter extends LogFilter>(filter: Filter): Filter {
  const { since, until } = filter;
  if (since === undefined || until === undefined || Date.parse(until) > Date.parse(since)) return filter;
  throw invalidParameter("until", "Must be later than since.");
}

function requireNotRevoked({ revokedAt }: ApiKeyRow): void {
  if (revokedAt !== null) throw new SandboxApiError({ code: "revoked" });
}
