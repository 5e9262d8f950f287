import { CONSOLE_PERMISSIONS } from "../../contract/roles.js";

/** What a role can allow, as the API lists it. */
export interface Permission {
  id: string;
  label: string;
  group: string;
  /** False for one that no key or token ever holds. */
  scope: boolean;
}

/** By group, in the order of the list. Labels, groups and order are assumed. */
const GROUPS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  addresses: { "addresses:all": "Use every address" },
  mail: {
    "emails:send": "Send mail",
    "emails:read": "Read sent mail",
    "drafts:read": "Read drafts",
    "drafts:write": "Write drafts",
    "threads:read": "Read conversations",
    "threads:write": "Change conversations",
    "files:read": "Read files",
    "files:write": "Upload and share files",
  },
  organising: {
    "labels:read": "Read labels",
    "labels:write": "Change labels",
    "rules:read": "Read rules",
    "rules:write": "Change rules",
    "calendar:read": "Read the calendar",
    "calendar:write": "Change the calendar",
  },
  writing: { "templates:read": "Read templates", "templates:write": "Change templates" },
  workspace: {
    "workspace:manage": "Manage the workspace",
    "domains:read": "Read domains",
    "domains:write": "Change domains",
    "settings:read": "Read settings",
    "settings:write": "Change settings",
    "connections:read": "Read connected mailboxes",
    "billing:read": "Read bills",
    "billing:write": "Change the plan",
    "account:read": "Read the account",
    "account:write": "Change the account",
  },
  people: {
    "contacts:read": "Read contacts",
    "contacts:write": "Change contacts",
    "audiences:read": "Read audiences",
    "audiences:write": "Change audiences",
    "forms:read": "Read forms",
    "forms:write": "Change forms",
    "members:read": "Read members",
    "members:write": "Change members",
    "roles:read": "Read roles",
    "roles:write": "Change roles",
  },
  developer: {
    "api-keys:read": "See API keys in the app",
    "api-keys:write": "Make API keys in the app",
    "keys:read": "Read API keys",
    "keys:write": "Rotate its own API key",
    "keys:manage": "Make API keys",
    "webhooks:read": "Read webhook endpoints",
    "webhooks:write": "Change webhook endpoints",
  },
  other: { "automations:read": "Read automations" },
};

const OF_CONSOLE: readonly string[] = CONSOLE_PERMISSIONS;

/** Every permission in canonical order, the same for every workspace. See docs/service.md#roles. */
export const PERMISSIONS: readonly Permission[] = Object.entries(GROUPS).flatMap(([group, labels]) =>
  Object.entries(labels).map(([id, label]) => ({ id, label, group, scope: !OF_CONSOLE.includes(id) })),
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
  return OF_CONSOLE.includes(id);
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
