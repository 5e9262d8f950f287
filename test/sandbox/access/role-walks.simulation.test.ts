import * as fc from "fast-check";
import { expect, test } from "vitest";
import { callerOf, verdict } from "../api/support.js";
import { openSandbox } from "../support.js";

const LADDER = ["owner", "admin", "member", "viewer", "developer", "billing"];
const SCOPES = ["labels:read", "labels:write", "templates:read", "templates:write"];
const IMPLIED: Readonly<Record<string, readonly string[]>> = { "templates:write": ["templates:read"] };

/** A role as a plain model sees it. */
interface Model {
  id: string;
  name: string;
  builtin: string | null;
  permissions: Set<string>;
}

/** Someone with a role: a member's app, or a key, and what it may do without the role. */
interface Holder {
  kind: "member" | "key";
  roleId: string;
  token: string;
  isRevoked: boolean;
}

const step = fc.record({
  kind: fc.constantFrom("create", "create", "update", "delete", "member", "key", "revoke"),
  n: fc.nat(5),
  at: fc.nat(12),
  to: fc.option(fc.nat(12), { nil: undefined }),
  permissions: fc.subarray(SCOPES),
});

const listed = (roles: readonly Model[]): Model[] =>
  roles.toSorted((a, b) => {
    const [left, right] = [a, b].map(({ builtin }) => (builtin === null ? LADDER.length : LADDER.indexOf(builtin)));
    return (left ?? 0) - (right ?? 0) || (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1);
  });

test("a random walk over roles and their holders does what a plain model does", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.integer({ min: 1, max: 4 }), async (steps, limit) => {
      const sandbox = openSandbox();
      const send = callerOf((url, init) => sandbox.fetch(url, init), sandbox.baseUrl);
      const key = sandbox.callers.key({ scopes: [...SCOPES, "roles:read", "roles:write"] });
      const call = (line: string, body?: object) => send(line, { key, ...(body === undefined ? {} : { body }) });
      const rows = sandbox.rows("roles") as { id: string; name: string; builtin: string; permissions: string[] }[];
      let roles: Model[] = rows.map(({ permissions, ...row }) => ({ ...row, permissions: new Set(permissions) }));
      const holders: Holder[] = [];
      const expand = (ids: readonly string[]) => new Set(ids.flatMap((id) => [id, ...(IMPLIED[id] ?? [])]));

      for (const [index, { kind, n, at, to, permissions }] of steps.entries()) {
        const role = roles[at % roles.length];
        if (role === undefined) throw new Error("There is always the owner's role.");
        const name = `Role ${n}`;
        const isTaken = roles.some((one) => one.id !== role.id && one.name === name);
        if (kind === "create") {
          const answer = await call("POST /roles", { name: name.toUpperCase(), permissions });
          const refused = roles.some((one) => one.name === name);
          expect(verdict(answer)).toBe(refused ? "409 role_name_taken name" : "201");
          if (refused) continue;
          roles.push({ id: String(answer.body["id"]), name, builtin: null, permissions: expand(permissions) });
        } else if (kind === "update") {
          const answer = verdict(await call(`PATCH /roles/${role.id}`, { name, permissions }));
          if (role.builtin === "owner") expect(answer).toBe("409 role_immutable");
          else expect(answer).toBe(isTaken ? "409 role_name_taken name" : "200");
          if (answer === "200") Object.assign(role, { name, permissions: expand(permissions) });
        } else if (kind === "delete") {
          const target = to === undefined ? undefined : roles[to % roles.length];
          const held = holders.filter(({ roleId }) => roleId === role.id);
          const answer = await call(
            `DELETE /roles/${role.id}${target === undefined ? "" : `?reassignTo=${target.id}`}`,
          );
          const expected = (): string => {
            if (role.builtin === "owner") return "409 role_undeletable";
            if (target === role || (target === undefined && held.length > 0)) return "409 role_in_use";
            return target?.builtin === "owner" ? "409 role_immutable" : "200";
          };
          expect(verdict(answer)).toBe(expected());
          if (answer.status !== 200) continue;
          const counted = (of: Holder["kind"]) => held.filter((one) => one.kind === of).length;
          expect(answer.body).toMatchObject({ reassigned: counted("member"), keysReassigned: counted("key") });
          for (const holder of held) holder.roleId = target?.id ?? "";
          roles = roles.filter((one) => one !== role);
        } else if (kind === "revoke") {
          const holder = holders.find((one) => one.kind === "key" && !one.isRevoked);
          if (holder === undefined) continue;
          sandbox.apiKeys.setStatus(holder.token, "revoked");
          holder.isRevoked = true;
        } else if (kind === "key" || role.builtin !== "owner") {
          const given = { role: role.id, scopes: SCOPES };
          const token =
            kind === "key" ? sandbox.callers.key(given) : sandbox.callers.member({ ...given, name: `m${index}` });
          holders.push({ kind, roleId: role.id, token, isRevoked: false });
        }
      }

      const shown: Record<string, unknown>[] = [];
      for (let cursor = ""; ;) {
        const { body } = await call(`GET /roles?limit=${limit}${cursor}`);
        const page = body as unknown as { data: Record<string, unknown>[]; nextCursor: string | null };
        shown.push(...page.data);
        if (page.nextCursor === null) break;
        cursor = `&cursor=${encodeURIComponent(page.nextCursor)}`;
      }
      const held = (roleId: string, of: Holder["kind"]) =>
        holders.filter((one) => one.roleId === roleId && one.kind === of && !one.isRevoked).length;
      expect(shown.map(({ id, members, apiKeys }) => ({ id, members, apiKeys }))).toEqual(
        listed(roles).map(({ id }) => ({ id, members: held(id, "member"), apiKeys: held(id, "key") })),
      );
      for (const { roleId, token, isRevoked } of holders) {
        const role = roles.find(({ id }) => id === roleId);
        const status = isRevoked
          ? "401 unauthorized"
          : role?.permissions.has("labels:read")
            ? "200"
            : "403 insufficient_scope";
        expect(verdict(await send("GET /labels", { key: token }))).toBe(status);
      }
    }),
    { numRuns: 60 },
  );
});
