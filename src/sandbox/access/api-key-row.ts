import type { Allowlists } from "./allowlists.js";
import type { CollectionRow } from "../api/collection.js";
import { type Actor, actorName } from "./actor.js";
import type { KeyChange } from "./key-log.js";
import type { Reach } from "./reach.js";

/** An API key of the workspace with its token. */
export interface ApiKeyRow extends CollectionRow, Reach {
  token: string;
  name: string;
  /** False: switched off. */
  enabled: boolean;
  revokedReason: string | null;
  createdAtMs: number;
  updatedAtMs: number;
  rotatedAtMs: number | null;
  deactivatedAtMs: number | null;
  revokedAtMs: number | null;
  rotationCount: number;
  createdBy: Actor;
  updatedBy: Actor;
  lastChangeAtMs: number;
  lastChangeType: KeyChange;
}

/** How often a key was used, which changes with every call. */
export interface KeyUse {
  totalUses: number;
  lastUsedAtMs: number | null;
}

/** What a key's calls are answered. See docs/service.md#api-keys. */
export type KeyState = "active" | "inactive" | "expired" | "revoked";

/** The state of a key at a time. */
export function keyStateOf({ revokedAtMs, expiresAtMs, enabled }: ApiKeyRow, nowMs: number): KeyState {
  if (revokedAtMs !== null) return "revoked";
  if (expiresAtMs !== null && expiresAtMs <= nowMs) return "expired";
  return enabled ? "active" : "inactive";
}

interface KeyBodyInput {
  nowMs: number;
  use: KeyUse;
  /** The name of a role. */
  roleNameOf: (roleId: string) => string | null;
  /** The name of a key; undefined for one that was deleted. */
  nameOf: (keyId: string) => string | undefined;
}

/** The key as it is sent, without its token. */
export function keyBody(row: ApiKeyRow, { nowMs, use, roleNameOf, nameOf }: KeyBodyInput): object {
  const { id, name, mode, token, scopes, roleId, revokedReason, rotationCount, lastChangeType } = row;
  const actorBody = (actor: Actor): object => ({
    type: actor.kind === "person" ? "person" : "api_key",
    id: actor.kind === "person" ? null : actor.id,
    name: actorName(actor, nameOf),
  });
  return {
    object: "api_key",
    id,
    name,
    mode,
    maskedKey: `svc_live_${id.slice(0, 4)}…${token.slice(-4)}`,
    keyLast4: token.slice(-4),
    status: keyStateOf(row, nowMs),
    scopes,
    roleId,
    roleName: roleId === null ? null : roleNameOf(roleId),
    ...listsBody(row),
    expiresAt: timeOf(row.expiresAtMs),
    lastUsedAt: timeOf(use.lastUsedAtMs),
    rotatedAt: timeOf(row.rotatedAtMs),
    deactivatedAt: timeOf(row.deactivatedAtMs),
    revokedAt: timeOf(row.revokedAtMs),
    totalUses: use.totalUses,
    rotationCount,
    revokedReason,
    createdAt: timeOf(row.createdAtMs),
    updatedAt: timeOf(row.updatedAtMs),
    createdBy: actorBody(row.createdBy),
    updatedBy: actorBody(row.updatedBy),
    lastChangeAt: timeOf(row.lastChangeAtMs),
    lastChangeType,
  };
}

function listsBody({ addressAllowlist, domainAllowlist }: Allowlists): object {
  return {
    addressAllowlist: addressAllowlist.length === 0 ? null : addressAllowlist,
    domainAllowlist: domainAllowlist.length === 0 ? null : domainAllowlist,
  };
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
