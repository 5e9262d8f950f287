import { PERMISSIONS, SEEDED_ROLES, expandPermissions, isConsoleOnly } from "../access/permissions.js";
import type { RoleRow } from "../access/role-book.js";
import { type ApiHandlers, type Caller, SandboxApiError, invalidParameter } from "../api/api-handlers.js";
import { pageBody } from "../api/page-rows.js";
import { isoNow } from "../clock/sandbox-time.js";
import type { SandboxResource, Workspace } from "./resource.js";

/** The workspace's roles. See docs/service.md#roles. */
export function createRoles(workspace: Workspace): SandboxResource<"roles"> {
  const { clock, roles, keys } = workspace;
  const bodyOf = (role: RoleRow): object => {
    const isFree = role.builtin !== "owner";
    const apiKeys = keys.all.rows.filter(({ roleId, revokedAt }) => roleId === role.id && revokedAt === null).length;
    return { ...role, editable: isFree, deletable: isFree, members: roles.countMembers(role.id), apiKeys };
  };

  const handlers: ApiHandlers["roles"] = {
    list: ({ query }) => pageBody(roles.roles.page({ list: "roles", sortings: LADDER, ...query }), bodyOf),
    get: ({ params }) => bodyOf(roles.roles.get(params.id)),
    create({ body: { name, permissions: given, description }, caller }) {
      const permissions = readPermissions(given);
      requireHeld(permissions, caller);
      const at = isoNow(clock);
      const made = { name, description: textOf(description), permissions, builtin: null, createdAt: at, updatedAt: at };
      return bodyOf(roles.roles.add(made));
    },
    update({ params, body: { name, description, permissions: given }, caller }) {
      const permissions = given === undefined ? undefined : readPermissions(given);
      const role = roles.roles.get(params.id);
      requireOther(role, "role_immutable");
      const added = permissions?.filter((id) => !role.permissions.includes(id)) ?? [];
      requireHeld(added, caller);
      const changed = roles.roles.change(role.id, {
        name,
        description: description === undefined ? undefined : textOf(description),
        permissions,
        updatedAt: isoNow(clock),
      });
      return bodyOf(changed);
    },
    delete: ({ params, query: { reassignTo } }) => deleteRole(workspace, roles.roles.get(params.id), reassignTo),
    permissions: () => ({ object: "list", data: PERMISSIONS }),
  };
  return { handlers, rows: () => roles.roles.rows.map(bodyOf), reset: () => roles.reset() };
}

/** Deletes a role; another one takes its holders, if it has any. */
function deleteRole({ roles, keys }: Workspace, role: RoleRow, reassignTo: string | undefined): object {
  requireOther(role, "role_undeletable");
  if (reassignTo === role.id) throw new SandboxApiError({ code: "role_in_use" });
  const target = reassignTo === undefined ? undefined : roles.roles.get(reassignTo);
  if (target !== undefined) requireOther(target, "role_immutable");
  const isHeld = roles.isHeld(role.id) || keys.all.rows.some(({ roleId }) => roleId === role.id);
  if (target === undefined && isHeld) throw new SandboxApiError({ code: "role_in_use" });
  const reassigned = target === undefined ? 0 : roles.move(role.id, target.id);
  const keysReassigned = target === undefined ? 0 : keys.moveRole(role.id, target.id);
  return roles.roles.delete(role.id, { reassigned, keysReassigned });
}

/** Those that every workspace begins with in ladder order, then its own by name. */
function positionOf({ builtin, name, id }: RoleRow): (number | string)[] {
  if (builtin === null) return [SEEDED_ROLES.length, name.toLowerCase(), id];
  return [SEEDED_ROLES.findIndex((role) => role.builtin === builtin)];
}

const LADDER = { ladder: { positionOf, order: "ascending" } } as const;

/** Permissions as they are stored; throws 422 for one that the service does not have. */
function readPermissions(given: readonly string[]): readonly string[] {
  const strange = given.findIndex((id) => !PERMISSIONS.some((permission) => permission.id === id));
  if (strange !== -1) throw invalidParameter(`permissions.${strange}`, "There is no such permission.");
  return expandPermissions(given);
}

/** Throws 403 for a permission that the caller does not hold, or that no caller of the API ever does. */
function requireHeld(permissions: readonly string[], { scopes }: Caller): void {
  if (permissions.every((id) => !isConsoleOnly(id) && scopes.includes(id))) return;
  throw new SandboxApiError({ code: "insufficient_authority", param: "permissions" });
}

function requireOther({ builtin }: RoleRow, code: "role_immutable" | "role_undeletable"): void {
  if (builtin === "owner") throw new SandboxApiError({ code });
}

/** A description as it is stored; null for a blank one. */
function textOf(description: string | null | undefined): string | null {
  const text = description?.trim() ?? "";
  return text === "" ? null : text;
}
