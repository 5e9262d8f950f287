import type { SandboxOptions } from "pigeonhole/sandbox";
import { describe, expect, test } from "vitest";
import { SCOPES } from "#pigeonhole/contract/scopes.js";
import { MINUTE, START, openSandbox } from "../support.js";
import { refusalOf } from "../../support/error-of.js";
import { openWorld } from "./support.js";

const CONSOLE = ["addresses:all", "workspace:manage", "api-keys:read", "api-keys:write"];
const LADDER = ["owner", "admin", "member", "viewer", "developer", "billing"];
const iso = (ms: number): string => new Date(START + ms).toISOString();

function openRoles(options: SandboxOptions = {}) {
  const world = openWorld(options);
  const { client } = world;
  const seeded = async (builtin: string) => {
    const role = (await client.roles.list()).items.find((one) => one.builtin === builtin);
    if (role === undefined) throw new Error(`There is no role ${builtin}.`);
    return role;
  };
  return { ...world, seeded };
}

describe("the roles that a workspace begins with", () => {
  test("the six roles are made at the first read, in ladder order, and the owner's alone is fixed", async () => {
    const { client, sandbox } = openRoles();
    await sandbox.advance(MINUTE);
    const { items } = await client.roles.list();
    await sandbox.advance(MINUTE);
    expect(items.map(({ builtin }) => builtin)).toEqual(LADDER);
    expect(items.map(({ name }) => name)).toEqual(["Owner", "Admin", "Member", "Viewer", "Developer", "Billing"]);
    for (const { createdAt, updatedAt, id, editable, deletable, builtin, members, apiKeys } of items) {
      expect([createdAt, updatedAt, members, apiKeys]).toEqual([iso(MINUTE), iso(MINUTE), 0, 0]);
      expect(id).toMatch(/^role_[0-9a-f]{24}$/);
      expect([editable, deletable]).toEqual([builtin !== "owner", builtin !== "owner"]);
    }
    expect((await client.roles.list()).items).toEqual(items);
  });

  test("a role that a workspace began with stays deleted, and keeps what it came from when it is renamed", async () => {
    const { client, seeded } = openRoles();
    const { id } = await seeded("viewer");
    expect(await client.roles.update(id, { name: "Reader" })).toMatchObject({ name: "Reader", builtin: "viewer" });
    await client.roles.delete((await seeded("billing")).id);
    const left = (await client.roles.list()).items.map(({ name }) => name);
    expect(left).toEqual(["Owner", "Admin", "Member", "Reader", "Developer"]);
    expect((await client.roles.create({ name: "Billing", permissions: [] })).builtin).toBeNull();
  });

  test("after them come the workspace's own, by name whatever the case, page by page", async () => {
    const { client } = openRoles();
    for (const name of ["Beta", "alpha", "gamma"]) await client.roles.create({ name, permissions: [] });
    const names: string[] = [];
    for await (const { name } of client.roles.list({ limit: 2 })) names.push(name);
    expect(names.slice(6)).toEqual(["alpha", "Beta", "gamma"]);
    expect(names).toHaveLength(9);
  });

  test("the permissions are listed in one order, which every role has its own in", async () => {
    const { client } = openRoles();
    const permissions = await client.roles.permissions();
    const order = permissions.map(({ id }) => String(id));
    expect(order.toSorted()).toEqual([...SCOPES, ...CONSOLE].toSorted());
    expect(permissions.filter(({ scope }) => !scope).map(({ id }) => id)).toEqual(CONSOLE);
    const groups = [...new Set(permissions.map(({ group }) => group))];
    const documented = ["addresses", "mail", "organising", "writing", "workspace", "people", "developer", "other"];
    expect(groups).toEqual(documented);
    for (const role of (await client.roles.list()).items) {
      expect(role.permissions).toEqual(order.filter((id) => role.permissions.includes(id)));
    }
  });
});

describe("a role of the workspace", () => {
  test("a role has what its permissions imply, in canonical order", async () => {
    const { client } = openRoles();
    const made = await client.roles.create({
      name: "  Support ",
      permissions: ["roles:write", "templates:write", "emails:send", "emails:send"],
      description: " ",
    });
    expect(made).toMatchObject({
      name: "Support",
      description: null,
      permissions: ["emails:send", "templates:read", "templates:write", "members:read", "roles:read", "roles:write"],
      builtin: null,
      editable: true,
      deletable: true,
      members: 0,
      apiKeys: 0,
    });
    expect(await client.roles.get(made.id)).toEqual(made);
  });

  test("an update replaces the permissions, clears the description, and moves the time even when it is empty", async () => {
    const { client, sandbox } = openRoles();
    const { id, ...made } = await client.roles.create({ name: "a", permissions: ["emails:read"], description: "d" });
    await sandbox.advance(MINUTE);
    expect(await client.roles.update(id, {})).toEqual({ id, ...made, updatedAt: iso(MINUTE) });
    const changed = await client.roles.update(id, { permissions: ["labels:read"], description: "" });
    expect(changed).toMatchObject({ permissions: ["labels:read"], description: null, name: "a" });
  });

  test.each([
    [{ name: "  ", permissions: [] }, "422 invalid_parameter name"],
    [{ name: "x".repeat(49), permissions: [] }, "422 invalid_parameter name"],
    [{ name: "a" }, "422 invalid_parameter permissions"],
    [{ name: "a", permissions: ["labels:fly"] }, "422 invalid_parameter permissions.0"],
    [{ name: "a", permissions: [], description: "x".repeat(241) }, "422 invalid_parameter description"],
  ])("a role of %j is refused: %s", async (body, expected) => {
    const { called } = openRoles();
    expect(await called("POST /roles", body)).toBe(expected);
  });

  test("a caller gives only permissions that it holds, but leaves those that were there", async () => {
    const { client, sandbox, called } = openRoles();
    const token = sandbox.callers.key({ scopes: ["roles:write", "labels:read"] });
    const create = (permission: string) => called("POST /roles", { name: "a", permissions: [permission] }, token);
    expect(await create("labels:read")).toBe("201");
    expect(await create("labels:write")).toBe("403 insufficient_authority permissions");
    // It holds roles:write, but not what this brings.
    expect(await create("roles:write")).toBe("403 insufficient_authority permissions");
    const { id } = await client.roles.create({ name: "c", permissions: ["labels:write"] });
    const update = (permissions: readonly string[]) => called(`PATCH /roles/${id}`, { permissions }, token);
    expect(await update(["labels:write", "labels:read"])).toBe("200");
    expect(await update(["labels:read"])).toBe("200");
    expect(await update(["labels:write", "labels:read"])).toBe("403 insufficient_authority permissions");
  });

  test("what the app alone gives may stay in a role that has it", async () => {
    const { client, seeded } = openRoles();
    const { id, permissions } = await seeded("admin");
    const kept = permissions.filter((permission) => permission !== "billing:write");
    expect(permissions).toContain("api-keys:write");
    expect((await client.roles.update(id, { permissions: kept })).permissions).toEqual(kept);
  });

  test("a role holds from the next call on, for keys and for members", async () => {
    const { client, sandbox, called } = openRoles();
    const { id } = await client.roles.create({ name: "Labels", permissions: ["labels:read", "labels:write"] });
    const [key, member] = [sandbox.callers.key({ role: id }), sandbox.callers.member({ role: "labels" })];
    for (const token of [key, member]) expect(await called("POST /labels", { name: token }, token)).toBe("201");
    expect(await client.roles.get(id)).toMatchObject({ members: 1, apiKeys: 1 });
    await client.roles.update(id, { permissions: ["labels:read"] });
    for (const token of [key, member]) {
      expect(await called("POST /labels", { name: "b" }, token)).toBe("403 insufficient_scope");
      expect(await called("GET /labels", undefined, token)).toBe("200");
    }
  });
});

describe("the deletion of a role", () => {
  const MEMBERS = [{ name: "ada", role: "Viewer" }, { name: "bob", role: "viewer" }, { name: "cy" }];
  const INVITED = { name: "dee", role: "Viewer", invited: true };

  test("members, keys and invitations move to the target in one step, and are counted", async () => {
    const { client, sandbox, seeded, called } = openRoles({ members: [...MEMBERS, INVITED] });
    const [viewer, member] = [await seeded("viewer"), await seeded("member")];
    expect([viewer.members, member.members]).toEqual([2, 1]);
    const token = sandbox.callers.key({ role: "Viewer", scopes: ["labels:read", "labels:write"] });
    const revoked = sandbox.callers.key({ role: "Viewer" });
    sandbox.apiKeys.setStatus(revoked, "revoked");
    expect((await client.roles.get(viewer.id)).apiKeys).toBe(1);
    expect(await called("POST /labels", { name: "a" }, token)).toBe("403 insufficient_scope");
    const tombstone = { object: "role", id: viewer.id, deleted: true, reassigned: 2, keysReassigned: 2 };
    expect(await client.roles.delete(viewer.id, { reassignTo: member.id })).toEqual(tombstone);
    expect(await client.roles.get(member.id)).toMatchObject({ members: 3, apiKeys: 1 });
    expect(await called("POST /labels", { name: "a" }, token)).toBe("201");
    // The invitation moved too, so the target cannot be deleted without another.
    expect(await called(`DELETE /roles/${viewer.id}`)).toBe("404 role_not_found roleId");
  });

  test("a role that an invitation has needs a target", async () => {
    const { seeded, called } = openRoles({ members: [INVITED] });
    const { id } = await seeded("viewer");
    expect(await called(`DELETE /roles/${id}`)).toBe("409 role_in_use");
  });

  test("a role that a revoked key has needs a target, which is a different role and not the owner's", async () => {
    const { sandbox, seeded, called } = openRoles();
    const token = sandbox.callers.key({ role: "Viewer" });
    sandbox.apiKeys.setStatus(token, "revoked");
    const [viewer, owner, member] = [await seeded("viewer"), await seeded("owner"), await seeded("member")];
    const line = `DELETE /roles/${viewer.id}`;
    expect(await called(line)).toBe("409 role_in_use");
    expect(await called(`${line}?reassignTo=${viewer.id}`)).toBe("409 role_in_use");
    expect(await called(`${line}?reassignTo=${owner.id}`)).toBe("409 role_immutable");
    expect(await called(`${line}?reassignTo=role_${"0".repeat(24)}`)).toBe("404 role_not_found roleId");
    expect((await seeded("viewer")).id).toBe(viewer.id);
    expect(await called(`${line}?reassignTo=${member.id}`)).toBe("200");
  });

  test("a role that nobody has is deleted without a target", async () => {
    const { client } = openRoles();
    const { id } = await client.roles.create({ name: "a", permissions: [] });
    expect(await client.roles.delete(id)).toMatchObject({ reassigned: 0, keysReassigned: 0 });
  });
});

test("a member with a role that there is not is refused when the sandbox is made", async () => {
  const members = [{ name: "ada", role: "Boss" }];
  expect(await refusalOf(() => openSandbox({ members }))).toEqual({ code: "invalid_option" });
});
