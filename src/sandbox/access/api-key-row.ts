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
}

/** How often a key was used, which changes with every call. */
export interface KeyUse {
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
  const { token, enabled: _, expiresAtMs, addressAllowlist, domainAllowlist, ...fields } = row;
  const actorBody = (actor: Actor): object => ({
    type: actor.kind === "person" ? "person" : "api_key",
    id: actor.kind === "person" ? null : actor.id,
    name: actorName(actor, nameOf),
  });
  return {
    object: "api_key",
    ...fields,
    ...use,
    maskedKey: `svc_live_${row.id.slice(0, 4)}…${token.slice(-4)}`,
    keyLast4: token.slice(-4),
    status: keyStateOf(row, nowMs),
    roleName: row.roleId === null ? null : roleNameOf(row.roleId),
    addressAllowlist: addressAllowlist.length === 0 ? null : addressAllowlist,
    domainAllowlist: domainAllowlist.length === 0 ? null : domainAllowlist,
    expiresAt: expiresAtMs === null ? null : new Date(expiresAtMs).toISOString(),
    createdBy: actorBody(row.createdBy),
    updatedBy: actorBody(row.updatedBy),
  };
}
