import { createClient } from "pigeonhole/client";
import type { SandboxOptions } from "pigeonhole/sandbox";
import { describe, expect, test } from "vitest";
import { SCOPES } from "#pigeonhole/contract/scopes.js";
import { MINUTE, START } from "../support.js";
import { KEYS, SUPPORT, openWorld } from "./support.js";
import type { KeyCaller } from "#pigeonhole/sandbox/access/sandbox-callers.js";

const ACME = "acme.example.com";
const ORG = "acme.example.org";
const BILLING = `billing@${ACME}`;

function openKeys(options: SandboxOptions = {}) {
  const world = openWorld({ domains: [ACME, ORG], ...options });
  const { sandbox, clientOf } = world;
  /** The id of a key that was made by hand. */
  const idOfToken = (token: string): string => sandbox.apiKeys.find(token)?.caller.keyId ?? "";
  /** A key that was made by hand, as its id and what calls with it are answered. */
  const keyOf = (given: KeyCaller) => {
    const token = sandbox.callers.key(given);
    return { token, id: idOfToken(token), client: clientOf(token) };
  };
  return { ...world, idOfToken, keyOf };
}

const MANAGER = ["keys:manage", "keys:read", "labels:read", "emails:send"];

describe("a new key", () => {
  test("a new key works with the token of the answer, which no other answer has", async () => {
    const { client, clientOf } = openKeys();
    const made = await client.keys.create({ name: "Orders", scopes: ["labels:read"] });
    expect(made.token).toMatch(new RegExp(`^svc_live_${made.id}.{8,}$`));
    expect((await clientOf(made.token).labels.list()).items).toEqual([]);
    expect(made).toMatchObject({ object: "api_key", mode: "live", status: "active", keyLast4: made.token.slice(-4) });
    const read = await client.keys.get(made.id);
    expect(read).toEqual({ ...made, token: undefined, totalUses: 1, lastUsedAt: new Date(START).toISOString() });
    const listed = await client.keys.list();
    const shown = JSON.stringify([listed, await client.keys.activity(), await client.keys.requests()]);
    expect(shown).not.toContain(made.token);
    expect(listed.items[0]?.id).toBe(made.id);
  });

  test("a new key has the caller's send scope, role and expiry, and may only send", async () => {
    const { sandbox, keyOf } = openKeys();
    const role = sandbox.rows("roles").find((row) => "builtin" in row && row.builtin === "owner") as { id: string };
    const { client } = keyOf({ scopes: MANAGER, role: role.id, expiresInMinutes: 60, domainAllowlist: [ACME] });
    expect(await client.keys.create({ name: "Orders" })).toMatchObject({
      scopes: ["emails:send"],
      roleId: role.id,
      roleName: "Owner",
      addressAllowlist: null,
      domainAllowlist: [ACME],
      expiresAt: new Date(START + 60 * MINUTE).toISOString(),
      createdBy: { type: "api_key", name: "API key Test caller" },
    });
  });

  const full: KeyCaller = { scopes: SCOPES };
  test.each<[what: string, caller: KeyCaller, body: object, expected: string]>([
    ["a scope that the caller lacks", { scopes: MANAGER }, { scopes: ["labels:write"] }, "scopes"],
    ["the usual scope, which the caller lacks", { scopes: ["keys:manage"] }, {}, "scopes"],
    ["a scope that the caller's role does not allow", { ...full, role: "Owner" }, { scopes: ["keys:manage"] }, "201"],
    ["no role, of a caller with one", { ...full, role: "Owner" }, { roleId: null }, "roleId"],
    ["a later expiry", { ...full, expiresInMinutes: 60 }, { expiresInMinutes: 61 }, "expiresInMinutes"],
    ["an earlier expiry", { ...full, expiresInMinutes: 60 }, { expiresInMinutes: 59 }, "201"],
    ["any body, of a test key", { ...full, mode: "test" }, {}, "mode"],
    ["another address", { ...full, addressAllowlist: [SUPPORT] }, { addressAllowlist: [BILLING] }, "addressAllowlist"],
    ["every address", { ...full, addressAllowlist: [SUPPORT] }, { addressAllowlist: [] }, "addressAllowlist"],
    ["its domain", { ...full, addressAllowlist: [SUPPORT] }, { domainAllowlist: [ACME] }, "addressAllowlist"],
    ["an address of its domain", { ...full, domainAllowlist: [ACME] }, { addressAllowlist: [BILLING] }, "201"],
    ["another domain", { ...full, domainAllowlist: [ACME] }, { domainAllowlist: [ORG] }, "addressAllowlist"],
  ])("a new key with %s is in the caller's reach or is refused", async (_, caller, body, expected) => {
    const { keyOf, called } = openKeys();
    const { token } = keyOf(caller);
    const answer = await called("POST /keys", { name: "Orders", ...body }, token);
    expect(answer).toBe(expected === "201" ? "201" : `403 beyond_caller_authority ${expected}`);
  });

  test("a role narrows what a key can give, at once", async () => {
    const { sandbox, client, keyOf, called } = openKeys();
    const role = await client.roles.create({ name: "Makers", permissions: [...MANAGER] });
    const { token } = keyOf({ scopes: SCOPES, role: "Makers" });
    const body = { name: "Orders", scopes: ["labels:read"], roleId: role.id };
    expect(await called("POST /keys", body, token)).toBe("201");
    await client.roles.update(role.id, { permissions: ["keys:manage"] });
    expect(await called("POST /keys", body, token)).toBe("403 beyond_caller_authority scopes");
    await client.roles.update(role.id, { permissions: [] });
    expect(await called("POST /keys", body, token)).toBe("403 insufficient_scope");
    expect(sandbox.apiKeys.find(token)?.caller.scopes).toEqual([]);
  });

  test.each([
    [{ scopes: ["labels:fly"] }, "422 invalid_parameter scopes.0"],
    [{ scopes: [] }, "422 invalid_parameter scopes"],
    [{ name: "x".repeat(61) }, "422 invalid_parameter name"],
    [{ expiresInMinutes: 4 }, "422 invalid_parameter expiresInMinutes"],
    [{ expiresInMinutes: 5_256_001 }, "422 invalid_parameter expiresInMinutes"],
    [{ addressAllowlist: ["us@elsewhere.example"] }, "422 invalid_parameter addressAllowlist.0"],
    [{ addressAllowlist: [SUPPORT, `*@${ACME}`] }, "422 invalid_parameter addressAllowlist.1"],
    [{ domainAllowlist: [ACME, "elsewhere.example"] }, "422 invalid_parameter domainAllowlist.1"],
  ])("a new key with %j is refused: %s", async (body, expected) => {
    const { called } = openKeys();
    expect(await called("POST /keys", { name: "Orders", ...body })).toBe(expected);
  });

  test("a workspace has as many live keys as it may, and revoked and expired ones do not count", async () => {
    const { client, sandbox, called } = openKeys();
    while (sandbox.rows("keys").length < 99) sandbox.callers.key();
    const first = await client.keys.create({ name: "a", expiresInMinutes: 5 });
    const create = () => called("POST /keys", { name: "b" });
    expect(await create()).toBe("422 workspace_limit_reached");
    await client.keys.revoke(first.id, {});
    expect(await create()).toBe("201");
    expect(await create()).toBe("422 workspace_limit_reached");
    expect(sandbox.rows("keys")).toHaveLength(101);
  });
});

describe("a key that changes", () => {
  test("a key that is switched off is refused, and is exactly as before once it is switched on", async () => {
    const { client, sandbox, called } = openKeys();
    const { id, token } = await client.keys.create({ name: "Orders", scopes: ["labels:read"] });
    const before = await client.keys.get(id);
    await sandbox.advance(MINUTE);
    const off = await client.keys.update(id, { enabled: false });
    const at = new Date(START + MINUTE).toISOString();
    expect(off).toMatchObject({ status: "inactive", deactivatedAt: at, lastChangeType: "deactivated" });
    expect(await called("GET /labels", undefined, token)).toBe("403 inactive_api_key");
    const on = await client.keys.update(id, { enabled: true });
    const noted = { updatedAt: at, updatedBy: on.updatedBy, lastChangeAt: at, lastChangeType: "reactivated" };
    expect(on).toMatchObject({ ...before, ...noted });
    expect(await called("GET /labels", undefined, token)).toBe("200");
  });

  test("a key that expires is refused from that moment of the sandbox's clock", async () => {
    const { client, sandbox, called } = openKeys();
    const { id, token } = await client.keys.create({ name: "Orders", scopes: ["labels:read"], expiresInMinutes: 5 });
    await sandbox.advance(5 * MINUTE - 1);
    expect(await called("GET /labels", undefined, token)).toBe("200");
    await sandbox.advance(1);
    expect(await called("GET /labels", undefined, token)).toBe("401 unauthorized");
    expect(await client.keys.get(id)).toMatchObject({ status: "expired", totalUses: 1 });
    expect(await called(`POST /keys/${id}/rotate`)).toBe("409 revoked");
  });

  test("a key that is revoked is refused, and can be deleted", async () => {
    const { client, called } = openKeys();
    const { id, token } = await client.keys.create({ name: "Orders" });
    const revoked = { status: "revoked", revokedReason: "Leaked", revokedAt: iso(0) };
    expect(await client.keys.revoke(id, { reason: "Leaked" })).toMatchObject(revoked);
    expect(await called("GET /labels", undefined, token)).toBe("401 unauthorized");
    expect(await client.keys.delete(id)).toEqual({ object: "api_key", id, deleted: true });
  });

  test("a key that changes itself may only narrow itself", async () => {
    const { keyOf, called } = openKeys();
    const { id, token } = keyOf({ scopes: MANAGER, domainAllowlist: [ACME] });
    const change = (body: object) => called(`PATCH /keys/${id}`, body, token);
    expect(await change({ scopes: [...MANAGER, "labels:write"] })).toBe("403 beyond_caller_authority scopes");
    expect(await change({ domainAllowlist: [] })).toBe("403 beyond_caller_authority addressAllowlist");
    expect(await change({ name: "Narrow", scopes: ["keys:manage"] })).toBe("200");
    expect(await change({ scopes: MANAGER })).toBe("403 beyond_caller_authority scopes");
    expect(await change({ domainAllowlist: [], addressAllowlist: [SUPPORT] })).toBe("200");
    expect(await change({ domainAllowlist: [ACME] })).toBe("403 beyond_caller_authority addressAllowlist");
    expect(await change({ enabled: false })).toBe("200");
    expect(await change({ enabled: true })).toBe("403 inactive_api_key");
  });

  test("a key that its role narrows may rename and rotate itself, and no longer gives what the role took", async () => {
    const { client, keyOf, called } = openKeys();
    const role = await client.roles.create({ name: "Makers", permissions: MANAGER });
    const { id, token } = keyOf({ scopes: [...MANAGER, "labels:write"], role: role.id });
    expect(await called(`PATCH /keys/${id}`, { name: "Renamed" }, token)).toBe("200");
    const wider = { scopes: ["labels:write"] };
    expect(await called(`PATCH /keys/${id}`, wider, token)).toBe("403 beyond_caller_authority scopes");
    expect(await called(`POST /keys/${id}/rotate`, undefined, token)).toBe("200");
  });

  test("a narrowed caller sees the keys inside its own send scope, in lists, logs and by id", async () => {
    const { keyOf, called, client, sandbox } = openKeys();
    const domain = keyOf({ scopes: SCOPES, domainAllowlist: [ACME] });
    const inside = keyOf({ name: "Inside", addressAllowlist: [BILLING] });
    const outside = keyOf({ name: "Outside", domainAllowlist: [ORG] });
    for (const { token } of [inside, outside]) await called("GET /labels", undefined, token);
    // The world's own narrow key is inside too.
    const seen = [inside.id, domain.id, sandbox.apiKeys.find(KEYS.narrow)?.caller.keyId];
    expect((await domain.client.keys.list()).items.map(({ id }) => id)).toEqual(seen);
    expect(await called(`GET /keys/${outside.id}`, undefined, domain.token)).toBe("404 resource_not_found");
    const ids = async (list: "requests" | "activity") =>
      new Set((await domain.client.keys[list]({ keyIds: [inside.id, outside.id] })).items.map(({ keyId }) => keyId));
    expect([await ids("requests"), await ids("activity")]).toEqual([new Set([inside.id]), new Set([inside.id])]);
    await client.keys.revoke(outside.id, {});
    await client.keys.delete(outside.id);
    expect(await ids("activity")).toEqual(new Set([inside.id]));
  });
});

describe("the rotation of a key", () => {
  test("the rotation of a key keeps everything but its token, and the old one ends at once", async () => {
    const { client, called, sandbox } = openKeys();
    const wanted = { name: "Orders", scopes: ["labels:read"], expiresInMinutes: 60 };
    const { token, ...made } = await client.keys.create(wanted);
    await sandbox.advance(MINUTE);
    const { token: next, ...rotated } = await client.keys.rotate(made.id);
    const at = new Date(START + MINUTE).toISOString();
    const moved = { maskedKey: rotated.maskedKey, keyLast4: next.slice(-4) };
    const noted = { rotatedAt: at, rotationCount: 1, updatedAt: at, lastChangeAt: at, lastChangeType: "rotated" };
    expect(rotated).toEqual({ ...made, ...moved, ...noted });
    expect(await called("GET /labels", undefined, token)).toBe("401 unauthorized");
    expect(await called("GET /labels", undefined, next)).toBe("200");
  });

  test("a key with another role or mode than the caller's, or a later expiry, is not rotated", async () => {
    const { keyOf, called } = openKeys();
    const { token } = keyOf({ scopes: MANAGER, role: "Owner", expiresInMinutes: 60 });
    for (const [wider, axis] of [
      [{ role: "Viewer", expiresInMinutes: 60 }, "roleId"],
      [{ role: "Owner", expiresInMinutes: 61 }, "expiresInMinutes"],
      [{ role: "Owner", expiresInMinutes: 60, mode: "test" }, "mode"],
    ] as const) {
      const { id } = keyOf({ scopes: ["labels:read"], ...wider });
      expect(await called(`POST /keys/${id}/rotate`, undefined, token)).toBe(`403 beyond_caller_authority ${axis}`);
    }
  });

  test.each([[["keys:write"]], [["keys:manage"]]])("a key with %j rotates itself", async (scopes) => {
    const { keyOf, clientOf, called } = openKeys();
    const { id, token, client } = keyOf({ scopes: [...scopes, "keys:read"] });
    const rotated = await client.keys.rotateSelf();
    expect(rotated.id).toBe(id);
    expect(await called(`GET /keys/${id}`, undefined, token)).toBe("401 unauthorized");
    expect(await clientOf(rotated.token).keys.get(id)).toMatchObject({ rotationCount: 1 });
  });

  test("the key of the sandbox is the new one after its rotation, and the first one after a reset", async () => {
    const { sandbox } = openWorld({ apiKeys: [{ token: KEYS.full, scopes: SCOPES }] });
    const { token } = await createClient(sandbox.clientOptions).keys.rotateSelf();
    expect([sandbox.apiKey, sandbox.clientOptions.apiKey]).toEqual([token, token]);
    await createClient(sandbox.clientOptions).labels.list();
    sandbox.reset();
    expect(sandbox.apiKey).toBe(KEYS.full);
    await createClient(sandbox.clientOptions).labels.list();
  });
});

describe("the logs of keys", () => {
  test("the log of requests has each authenticated call of a key, without query and body", async () => {
    const { client, keyOf, send, sandbox } = openKeys();
    const { id, token } = keyOf({ name: "Orders", scopes: ["labels:read"] });
    await send("GET /labels?limit=5", { token, headers: { "user-agent": "test/1" } });
    await sandbox.advance(MINUTE);
    await send("POST /labels", { token, body: { name: "secret name" } });
    await send("GET /labels", { token: sandbox.callers.owner() });
    sandbox.apiKeys.setStatus(token, "inactive");
    await send("GET /labels", { token });
    const { items } = await client.keys.requests({ keyIds: [id] });
    const row = { keyId: id, keyName: "Orders", path: "/labels", durationMs: 0, ip: null };
    expect(items).toMatchObject([
      { ...row, method: "POST", status: 403, errorCode: "insufficient_scope", createdAt: iso(MINUTE) },
      { ...row, method: "GET", status: 200, errorCode: null, userAgent: "test/1", createdAt: iso(0) },
    ]);
    expect(JSON.stringify(items)).not.toMatch(/secret name|limit/);
    expect((await client.keys.get(id)).totalUses).toBe(2);
    const failed = await client.keys.requests({ keyIds: [id], failedOnly: true });
    expect(failed.items.map(({ status }) => status)).toEqual([403]);
    const early = await client.keys.requests({ keyIds: [id], since: iso(0), until: iso(MINUTE) });
    expect(early.items.map(({ status }) => status)).toEqual([200]);
    expect((await client.keys.requests({ keyIds: [id], since: iso(MINUTE) })).items).toHaveLength(1);
  });

  test("the log of requests names the address that a call over HTTP came from", async () => {
    const { sandbox } = openWorld({ apiKeys: [{ token: KEYS.full, scopes: SCOPES }] });
    const { url } = await sandbox.listen();
    const client = createClient({ apiKey: KEYS.full, baseUrl: url });
    await client.labels.list();
    expect((await client.keys.requests()).items).toMatchObject([{ path: "/labels", ip: "127.0.0.1" }]);
  });

  test("the activity has what was done, by whom and from where, also of a deleted key", async () => {
    const { client, called, sandbox } = openKeys();
    const { id, token } = await client.keys.create({ name: "Orders", scopes: ["labels:read", "keys:write"] });
    await client.keys.update(id, { name: "Sales" });
    await client.keys.update(id, { enabled: false });
    expect(await called("GET /labels", undefined, token)).toBe("403 inactive_api_key");
    sandbox.apiKeys.setStatus(token, "active");
    await called("POST /keys/self/rotate", undefined, token);
    await client.keys.revoke(id, {});
    const activity = async () => (await client.keys.activity({ keyIds: [id] })).items;
    const full = "API key Sandbox key";
    expect((await activity()).map(({ kind, actor, detail }) => `${kind} ${actor} ${detail?.source}`)).toEqual([
      `revoked ${full} api`,
      "rotated API key Sales api",
      "reactivated @owner app",
      "authentication_refused API key Sales api",
      `deactivated ${full} api`,
      `updated ${full} api`,
      `created ${full} api`,
    ]);
    expect(new Set((await activity()).map(({ keyName }) => keyName))).toEqual(new Set(["Sales"]));
    await client.keys.delete(id);
    const rows = await activity();
    expect(rows).toHaveLength(8);
    expect(rows[0]).toMatchObject({ kind: "deleted", keyName: "Deleted key" });
    expect(rows[2]).toMatchObject({ kind: "rotated", actor: "Deleted key", keyName: "Deleted key" });
    expect((await client.keys.requests({ keyIds: [id] })).items).toMatchObject([{ keyName: "Deleted key" }]);
  });

  test.each(["requests", "activity"])("the log of %s refuses filters that cannot be right", async (log) => {
    const { called } = openKeys();
    const refused = (search: string) => called(`GET /keys/${log}?${search}`);
    expect(await refused(`since=${iso(0)}&until=${iso(0)}`)).toBe("422 invalid_parameter until");
    expect(await refused("keyIds=abc")).toBe("422 invalid_parameter keyIds.0");
    const ids = (count: number) => `keyIds=${Array.from({ length: count }, () => "0".repeat(24)).join(",")}`;
    expect(await refused(ids(51))).toBe("422 invalid_parameter keyIds");
    expect(await refused(ids(50))).toBe("200");
  });

  test("the logs forget their oldest rows past the limit of the sandbox", async () => {
    const { client, keyOf, called } = openKeys({ limits: { maxLogRows: 20 } });
    const { token } = keyOf({ scopes: ["labels:read"] });
    for (let index = 0; index < 50; index += 1) await called("GET /labels", undefined, token);
    const { items } = await client.keys.requests({ limit: 100 });
    expect(items.length).toBeGreaterThan(15);
    expect(items.length).toBeLessThanOrEqual(20);
  });

  test("a cursor of the requests is taken with failedOnly=false, which is the default, and not with true", async () => {
    const { client, called } = openKeys();
    for (let index = 0; index < 3; index += 1) await called("GET /labels");
    const { nextCursor } = await client.keys.requests({ limit: 1 });
    const cursor = nextCursor ?? "";
    expect((await client.keys.requests({ limit: 1, cursor, failedOnly: false })).items).toHaveLength(1);
    expect(await called(`GET /keys/requests?cursor=${cursor}&failedOnly=true`)).toBe("400 invalid_cursor cursor");
  });
});

/** A time after the start of the sandbox. */
function iso(ms: number): string {
  return new Date(START + ms).toISOString();
}
