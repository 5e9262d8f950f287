import { z } from "zod";
import type { Resource } from "./operation.js";
import { pageOf, pageQuery } from "./paging.js";
import { createRows } from "./create-rows.js";
import { SCOPES } from "./scopes.js";
import { addressAllowlist, domainAllowlist } from "./allowlists.js";
import { nullable, openEnum, textOf, timestamp, wholeNumberOf } from "./shapes.js";

/** API keys: lengths, counts and the minutes until they expire. See docs/service.md#api-keys. */
export const KEY_LIMITS = {
  nameLength: 60,
  roleIdLength: 64,
  minExpiryMinutes: 5,
  maxExpiryMinutes: 5_256_000,
  idsOfFilter: 50,
} as const;

const KEY_ID = /^[0-9a-f]{24}$/;
const keyId = z.string().regex(KEY_ID, { error: "Must be the id of an API key: 24 hex characters." });

const name = textOf(1, KEY_LIMITS.nameLength);
const scopes = z.array(openEnum(SCOPES)).min(1, { error: "Must name at least one scope." }).readonly();

/** Who did it. Its fields are not documented, so none is required. */
const auditActor = nullable(
  z.union([
    z.string(),
    z.looseObject({
      /** `person` or `api_key`; assumed. */
      type: z.string().optional(),
      /** Null for a person; assumed. */
      id: z.string().nullable().optional(),
      /** `@` and a name for a person, `API key` and a name for a key; assumed. */
      name: z.string().optional(),
    }),
  ]),
);

/** A key as read. Only the id is required, so that an answer with a secret is never refused. */
const apiKey = z.looseObject({
  id: z.string(),
  name: z.string().default(""),
  /** What a `test` key sends starts nothing. */
  mode: openEnum(["live", "test"]).default("live"),
  /** Its beginning, an ellipsis and its last characters. */
  maskedKey: z.string().default(""),
  keyLast4: z.string().default(""),
  /** `inactive`: switched off. */
  status: openEnum(["active", "inactive", "expired", "revoked"]).default("active"),
  scopes: z.array(openEnum(SCOPES)).default([]),
  /** The role that caps the key. */
  roleId: nullable(z.string()),
  roleName: nullable(z.string()),
  /** Null when the key is not narrowed to addresses. */
  addressAllowlist: nullable(z.array(z.string())),
  /** Null when the key is not narrowed to domains. */
  domainAllowlist: nullable(z.array(z.string())),
  expiresAt: nullable(z.string()),
  lastUsedAt: nullable(z.string()),
  rotatedAt: nullable(z.string()),
  deactivatedAt: nullable(z.string()),
  revokedAt: nullable(z.string()),
  /** Calls that were made, without those that were refused before authentication. */
  totalUses: z.number().default(0),
  rotationCount: z.number().default(0),
  revokedReason: nullable(z.string()),
  createdAt: z.string().default(""),
  updatedAt: z.string().default(""),
  createdBy: auditActor,
  updatedBy: auditActor,
  lastChangeAt: nullable(z.string()),
  lastChangeType: nullable(z.string()),
});

/** A key with its token, which is shown once. */
const apiKeyWithToken = apiKey.extend({
  /** `svc_live_` and the secret. */
  token: z.string(),
});

/** What the rows of both logs have. */
const logged = {
  id: nullable(z.string()),
  keyId: nullable(z.string()),
  /** `Deleted key` when the key is no longer there. */
  keyName: nullable(z.string()),
  createdAt: nullable(z.string()),
};

/** One call that a key made; the names of its fields are assumed. */
const apiKeyRequest = z.looseObject({
  ...logged,
  method: nullable(z.string()),
  /** Without the query. */
  path: nullable(z.string()),
  status: nullable(z.number()),
  /** Null when the call succeeded. */
  errorCode: nullable(z.string()),
  durationMs: nullable(z.number()),
  ip: nullable(z.string()),
  userAgent: nullable(z.string()),
});

/** One change of a key, or an authentication that was refused; most names of its fields are assumed. */
const apiKeyActivity = z.looseObject({
  ...logged,
  /** `@` and a name for a person, `API key` and a name for a key. */
  actor: nullable(z.string()),
  kind: nullable(
    openEnum([
      "created",
      "updated",
      "rotated",
      "deactivated",
      "reactivated",
      "revoked",
      "deleted",
      "authentication_refused",
    ]),
  ),
  detail: nullable(z.looseObject({ source: nullable(z.string()) })),
});

const id = "65b8f0a2c4d6e8f001234567";
const rows = createRows({
  all: "/keys",
  scopes: ["keys:read", "keys:manage"],
  one: { path: "/keys/{id}", params: z.strictObject({ id: keyId }), example: { id } },
  each: { ownerOnly: true },
});

/** Filters of the two logs. */
const logQuery = {
  /** Keys whose rows are wanted, at most 50. @default every key */
  keyIds: z
    .array(keyId)
    .max(KEY_LIMITS.idsOfFilter, { error: `Must hold at most ${KEY_LIMITS.idsOfFilter} ids.` })
    .readonly()
    .optional(),
  /** Rows at or after this time. */
  since: timestamp().optional(),
  /** Rows before this time, which is later than `since`. */
  until: timestamp().optional(),
  ...pageQuery(),
};

/** API keys. Only the owner reaches them. See docs/service.md#api-keys. */
export const keys = {
  /** Lists the keys, newest first, also those that are revoked or expired, without their secrets. */
  list: rows.list(pageOf(apiKey), {
    doc: "Lists the keys, newest first, also those that are revoked or expired, without their secrets.",
  }),
  /** Reads one key, without its secret. */
  get: rows.get(apiKey, { doc: "Reads one key, without its secret." }),
  /** Makes a live key inside the caller's reach; the answer holds its token, the only time it appears. */
  create: rows.create(apiKeyWithToken, {
    doc: "Makes a live key inside the caller's reach; the answer holds its token, the only time it appears.",
    body: z.strictObject({
      name,
      /** At least one, each of them held by the caller. @default ["emails:send"] */
      scopes: scopes.optional(),
      /** The role that caps the key; null for none. A caller with one can give only its own. @default the caller's */
      roleId: textOf(1, KEY_LIMITS.roleIdLength).nullable().optional(),
      /** Single addresses of the workspace. With neither list, the key has the caller's. */
      addressAllowlist: addressAllowlist.optional(),
      /** Whole domains of the workspace, with the addresses that are added later. */
      domainAllowlist: domainAllowlist.optional(),
      /** 5 minutes to ten years. @default the caller's expiry, or none */
      expiresInMinutes: wholeNumberOf(KEY_LIMITS.minExpiryMinutes, KEY_LIMITS.maxExpiryMinutes).optional(),
    }),
    errors: ["beyond_caller_authority", "role_not_found", "workspace_limit_reached"],
    example: {
      body: {
        name: "Orders",
        scopes: ["emails:send", "contacts:write"],
        domainAllowlist: ["acme.example.com"],
        expiresInMinutes: 43_200,
      },
    },
  }),
  /** Changes a key inside the caller's reach, switches it off or on; a key may narrow itself. */
  update: rows.update(apiKey, {
    doc: "Changes a key inside the caller's reach, switches it off or on; a key may narrow itself.",
    body: z.strictObject({
      name: name.optional(),
      /** At least one; replaces all of them. */
      scopes: scopes.optional(),
      /** Replaces the list. With both lists empty, the key reaches every address. */
      addressAllowlist: addressAllowlist.optional(),
      /** Replaces the list. */
      domainAllowlist: domainAllowlist.optional(),
      /** False switches the key off: each of its calls is refused. True restores it as it was. */
      enabled: z.boolean().optional(),
    }),
    errors: ["beyond_caller_authority", "revoked"],
    example: { body: { name: "Orders", enabled: false } },
  }),
  /** Gives a key another token; the old one ends at once, and everything else stays. */
  rotate: rows.act("/keys/{id}/rotate", apiKeyWithToken, {
    doc: "Gives a key another token; the old one ends at once, and everything else stays.",
    errors: ["beyond_caller_authority", "revoked"],
  }),
  /** Gives the key of the call another token; the old one ends at once. */
  rotateSelf: rows.act("/keys/self/rotate", apiKeyWithToken, {
    doc: "Gives the key of the call another token; the old one ends at once.",
    scope: { anyOf: ["keys:write", "keys:manage"] },
    errors: ["resource_not_found"],
  }),
  /** Ends a key for good; it stays in the list until it is deleted. */
  revoke: rows.act("/keys/{id}/revoke", apiKey, {
    doc: "Ends a key for good; it stays in the list until it is deleted.",
    pathIsAssumed: true,
    body: z.strictObject({
      /** Kept with the key as `revokedReason`. */
      reason: textOf(0, 240).optional(),
    }),
    errors: ["beyond_caller_authority", "revoked"],
    example: { body: { reason: "Leaked" } },
  }),
  /** Deletes a revoked key; its requests and activity stay. */
  delete: rows.delete({
    doc: "Deletes a revoked key; its requests and activity stay.",
    errors: ["beyond_caller_authority", "not_revoked"],
  }),
  /** Lists the calls that keys made, newest first, without bodies and queries. */
  requests: rows.list(pageOf(apiKeyRequest), {
    doc: "Lists the calls that keys made, newest first, without bodies and queries.",
    path: "/keys/requests",
    query: z.strictObject({
      /** True: only calls that were answered 400 or above. @default false */
      failedOnly: z.boolean().optional(),
      ...logQuery,
    }),
    example: { query: { failedOnly: true, keyIds: [id], since: "2026-01-31T00:00:00Z" } },
  }),
  /** Lists what was done to keys, newest first, with the authentications that were refused. */
  activity: rows.list(pageOf(apiKeyActivity), {
    doc: "Lists what was done to keys, newest first, with the authentications that were refused.",
    path: "/keys/activity",
    query: z.strictObject(logQuery),
    example: { query: { keyIds: [id], until: "2026-02-01T00:00:00Z" } },
  }),
} as const satisfies Resource;
