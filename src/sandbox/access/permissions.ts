import type { Contract } from "../../contract/contract.js";
import type { CallResult } from "../../contract/operation.js";
import { CONSOLE_PERMISSIONS } from "../../contract/roles.js";
import { SCOPES } from "../../contract/scopes.js";

/** What a role can allow, as the API lists it. */
type Permission = CallResult<Contract["roles"]["permissions"]>[number];

/** The group of each resource, in the order of the list. Labels, groups and order are assumed. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  addresses: ["addresses"],
  mail: ["emails", "drafts", "threads", "files"],
  organising: ["labels", "rules", "calendar"],
  writing: ["templates"],
  workspace: ["workspace", "domains", "settings", "connections", "billing", "account"],
  people: ["contacts", "audiences", "forms", "members", "roles"],
  developer: ["api-keys", "keys", "webhooks"],
  other: ["automations"],
};

/** Every permission in canonical order, the same for every workspace. See docs/service.md#roles. */
export const PERMISSIONS: readonly Permission[] = Object.entries(GROUPS).flatMap(([group, resources]) =>
  resources.flatMap((resource) =>
    [...CONSOLE_PERMISSIONS, ...SCOPES]
      .filter((id) => id.startsWith(`${resource}:`))
      .map((id) => ({ id, label: id.replaceAll(/[:-]/g, " "), group, scope: !isConsoleOnly(id) })),
  ),
);

/** What a permission brings with it. */
const IMPLIED: Readonly<Record<string, readonly string[]>> = {
  "templates:write": ["templates:read"],
  "roles:write": ["roles:read", "members:read"],
};

/** Permissions with what they imply, each once and in canonical order. Every one of them must be in the list. */
export function expandPermissions(ids: readonly string[]): readonly string[] {
  const all = new Set(ids.flatMap((id) => [id, ...(IMPLIED[id] ?? [])]));
  return PERMISSIONS.filter(({ id }) => all.has(id)).map(({ id }) => id);
}

/** True for a permission of the app alone. */
export function isConsoleOnly(id: string): boolean {
  const ofConsole: readonly string[] = CONSOLE_PERMISSIONS;
  return ofConsole.includes(id);
}

const idsOf = (...groups: readonly string[]): string[] =>
  PERMISSIONS.filter(({ group }) => groups.includes(group)).map(({ id }) => id);
const reads = (ids: readonly string[]): string[] => ids.filter((id) => id.endsWith(":read"));
const work = [...idsOf("mail", "organising", "writing"), "contacts:read", "contacts:write"];

/** The roles that a workspace begins with, in ladder order. What they allow is assumed. */
export const SEEDED_ROLES: readonly { builtin: string; name: string; permissions: readonly string[] }[] = [
  { builtin: "owner", name: "Owner", permissions: PERMISSIONS.map(({ id }) => id) },
  {
    builtin: "admin",
    name: "Admin",
    permissions: PERMISSIONS.map(({ id }) => id).filter((id) => id !== "workspace:manage" && id !== "keys:manage"),
  },
  {
    builtin: "member",
    name: "Member",
    permissions: [...work, "audiences:read", "audiences:write", "forms:read", "forms:write", "settings:read"],
  },
  { builtin: "viewer", name: "Viewer", permissions: [...reads(work), "audiences:read", "forms:read", "settings:read"] },
  {
    builtin: "developer",
    name: "Developer",
    permissions: [...idsOf("developer", "other"), ...work, "domains:read", "settings:read"].filter(
      (id) => id !== "keys:manage",
    ),
  },
  { builtin: "billing", name: "Billing", permissions: ["billing:read", "billing:write", "account:read"] },
].map(({ permissions, ...role }) => ({ ...role, permissions: expandPermissions(permissions) }));
