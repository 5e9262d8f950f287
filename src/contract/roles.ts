import { z } from "zod";
import type { Resource } from "./operation.js";
import { listOf, pageOf } from "./paging.js";
import { createRows } from "./create-rows.js";
import { SCOPES } from "./scopes.js";
import { idParams, nullable, openEnum, textOf, tombstoneOf, trimmedName } from "./shapes.js";

/** Roles of a workspace: how many of its own, and the length of their texts. See docs/service.md#roles. */
export const ROLE_LIMITS = { customPerWorkspace: 24, nameLength: 48, descriptionLength: 240 } as const;

/** Permissions that no key or token ever holds: they are given in the app alone. */
export const CONSOLE_PERMISSIONS = ["addresses:all", "workspace:manage", "api-keys:read", "api-keys:write"] as const;

/** What a role can allow: the scopes, and what the app alone has. */
const permission = openEnum([...SCOPES, ...CONSOLE_PERMISSIONS]);

/** What is said of a role. */
const roleInput = z.strictObject({
  /** 1 to 48 characters, trimmed; no other role has it in any case. */
  name: trimmedName(ROLE_LIMITS.nameLength),
  /** The complete list, which may be empty; what is new in it is held by the caller. What one implies is added. */
  permissions: z.array(permission).readonly(),
  /** At most 240 characters; null or a blank text is none. */
  description: textOf(0, ROLE_LIMITS.descriptionLength).nullable().optional(),
});

/** A role as read. */
const role = z.looseObject({
  id: z.string(),
  name: z.string().default(""),
  description: nullable(z.string()),
  /** With what they imply, in the order of the list of permissions. */
  permissions: z.array(permission).default([]),
  /** The role that every workspace begins with; null for one of its own. It stays when the role is renamed. */
  builtin: nullable(openEnum(["owner", "admin", "member", "viewer", "developer", "billing"])),
  /** False for the owner's. */
  editable: z.boolean().default(true),
  /** False for the owner's. */
  deletable: z.boolean().default(true),
  /** People who hold it now. */
  members: z.number().default(0),
  /** Keys under it now that are not revoked. */
  apiKeys: z.number().default(0),
  createdAt: z.string().default(""),
  updatedAt: z.string().default(""),
});

/** An entry of the list of permissions. */
const rolePermission = z.looseObject({
  id: permission,
  label: z.string().default(""),
  group: openEnum(["addresses", "mail", "organising", "writing", "workspace", "people", "developer", "other"]).default(
    "other",
  ),
  /** False for one that no key or token ever holds. */
  scope: z.boolean().default(true),
});

const rows = createRows({
  all: "/roles",
  scopes: ["roles:read", "roles:write"],
  one: {
    path: "/roles/{id}",
    params: idParams(/^role_[0-9a-f]{24}$/, "Must be role_ and 24 hex characters."),
    missing: "role_not_found",
    example: { id: "role_65b8f0a2c4d6e8f001234567" },
  },
});

/** Roles, which cap members and keys. See docs/service.md#roles. */
export const roles = {
  /** Lists the roles: those that every workspace begins with, then its own by name. */
  list: rows.list(pageOf(role), {
    doc: "Lists the roles: those that every workspace begins with, then its own by name.",
  }),
  /** Reads one role, with how many people and keys hold it. */
  get: rows.get(role, { doc: "Reads one role, with how many people and keys hold it." }),
  /** Creates a role with permissions that the caller holds. */
  create: rows.create(role, {
    doc: "Creates a role with permissions that the caller holds.",
    body: roleInput,
    errors: ["insufficient_authority", "role_name_taken", "role_limit_reached"],
    example: { body: { name: "Support", permissions: ["emails:send", "emails:read", "templates:write"] } },
  }),
  /** Changes a role; it holds for the next call of everyone who has it. */
  update: rows.update(role, {
    doc: "Changes a role; it holds for the next call of everyone who has it.",
    body: roleInput.partial(),
    errors: ["insufficient_authority", "role_name_taken", "role_immutable"],
    example: { body: { permissions: ["emails:read"] } },
  }),
  /** Deletes a role; those who hold it move to the role that is named, in one step. */
  delete: rows.delete({
    doc: "Deletes a role; those who hold it move to the role that is named, in one step.",
    query: z.strictObject({
      /** The role that members, keys and invitations get instead. Needed while there are any; the name is assumed. */
      reassignTo: textOf(1, 64).optional(),
    }),
    result: tombstoneOf({
      id: z.string(),
      /** Members who were moved. */
      reassigned: z.number().default(0),
      /** Keys that were moved, with those that are revoked. */
      keysReassigned: z.number().default(0),
    }),
    errors: ["role_undeletable", "role_in_use", "role_immutable"],
    example: { query: { reassignTo: "role_65b8f0a2c4d6e8f0089abcde" } },
  }),
  /** Lists everything that a role can allow, in the order that roles have it in. */
  permissions: rows.read("/roles/permissions", listOf(rolePermission), {
    doc: "Lists everything that a role can allow, in the order that roles have it in.",
  }),
} as const satisfies Resource;
