import { describe, expect, test } from "vitest";
import { refusalOf } from "../../support/error-of.js";
import { KEYS, SUPPORT, openWorld } from "./support.js";

const BILLING = "billing@acme.example.com";
const ALL = "*@acme.example.com";

const openSignatures = () => {
  const { sandbox, client, clientOf } = openWorld();
  const { signatures } = client;
  const create = (name: string, address = SUPPORT, more: { isDefault?: boolean; isReplyDefault?: boolean } = {}) =>
    signatures.create({ address, name, html: `<p>${name}</p>`, ...more });
  /** The names of the default for new mail and of that for replies; "-" for none. */
  const defaultsOf = async (address: string) => {
    const { items } = await signatures.list({ address });
    const [one, two] = [items.filter((row) => row.isDefault), items.filter((row) => row.isReplyDefault)];
    return [one, two].map((rows) => rows.map(({ name }) => name).join() || "-").join(" ");
  };
  return { signatures, narrow: clientOf(KEYS.narrow).signatures, sandbox, create, defaultsOf };
};

describe("signatures", () => {
  test("the first signature of an address is its default, and a later one takes the place if asked", async () => {
    const { signatures, create, defaultsOf } = openSignatures();
    const first = await create("a");
    expect(first).toMatchObject({ isDefault: true, isReplyDefault: true });
    await create("b");
    expect(await defaultsOf(SUPPORT)).toBe("a a");
    const third = await create("c", SUPPORT, { isDefault: true });
    expect(await defaultsOf(SUPPORT)).toBe("c a");
    await signatures.update(third.id, { isDefault: false, isReplyDefault: true });
    expect(await defaultsOf(SUPPORT)).toBe("- c");
    await signatures.delete(third.id);
    expect(await defaultsOf(SUPPORT)).toBe("- -");
    await create("d");
    expect(await defaultsOf(SUPPORT)).toBe("- -");
    await create("e", BILLING, { isReplyDefault: false });
    expect(await defaultsOf(BILLING)).toBe("e -");
  });

  test("signatures are listed by address, the oldest first, and a tombstone has the address", async () => {
    const { signatures, create } = openSignatures();
    for (const [name, address] of Object.entries({ z: SUPPORT, y: BILLING, x: SUPPORT, w: ALL })) {
      await create(name, address);
    }
    expect((await signatures.list()).items.map(({ name }) => name)).toEqual(["w", "y", "z", "x"]);
    const [row] = (await signatures.list({ address: ALL.toUpperCase() })).items;
    const tombstone = { object: "signature", id: row?.id, address: ALL, deleted: true };
    expect(await signatures.delete(row?.id ?? "")).toEqual(tombstone);
  });

  test.each([
    ['<p onclick="x()">Ada<script>alert(1)</script></p>', "<p>Ada</p>"],
    ["<a href='javascript:x()'>Ada</a>", "<a>Ada</a>"],
    ['<img src="https://a.example/logo.png">', '<img src="https://a.example/logo.png">'],
    ["<p><br>&nbsp;</p>", undefined],
    ["<script>Ada</script>", undefined],
    ["", undefined],
  ])("the HTML of a signature is cleaned, and must keep something: %s", async (html, expected) => {
    const { signatures } = openSignatures();
    const got = await signatures
      .create({ address: SUPPORT, name: "a", html })
      .then(({ html: stored }) => stored)
      .catch((error: { param: string }) => error.param);
    expect(got).toBe(expected ?? "html");
  });

  test("a signature is copied to each address in order, over one of its name, and not to its own", async () => {
    const { signatures, create, defaultsOf } = openSignatures();
    const source = await create("Work");
    const old = await signatures.create({ address: BILLING, name: "WORK", html: "old" });
    const addresses = [BILLING.toUpperCase(), SUPPORT, ALL, BILLING];
    const copies = await signatures.copy(source.id, { addresses });
    expect(copies.map(({ address, html }) => [address, html])).toEqual([
      [BILLING, source.html],
      [ALL, source.html],
    ]);
    expect(copies[0]).toMatchObject({ id: old.id, name: "WORK" });
    expect(await defaultsOf(ALL)).toBe("Work Work");
    await signatures.update(source.id, { html: "new" });
    expect((await signatures.get(copies[1]?.id ?? "")).html).toBe(source.html);
  });

  test("a copy to an address that is full ends there, and the earlier addresses keep theirs", async () => {
    const { signatures, create } = openSignatures();
    const source = await create("Work");
    for (let index = 0; index < 50; index += 1) await create(`n${index}`, BILLING);
    const hello = "hello@acme.example.com";
    const got = await refusalOf(() => signatures.copy(source.id, { addresses: [ALL, BILLING, hello] }));
    expect(got).toMatchObject({ code: "signature_limit_reached" });
    expect((await signatures.list({ address: ALL })).items).toHaveLength(1);
    expect((await signatures.list({ address: hello })).items).toEqual([]);
  });

  test("a narrowed key sees and changes only signatures of addresses that it holds", async () => {
    const { signatures, narrow, create } = openSignatures();
    const [own, foreign, all] = [await create("a"), await create("b", BILLING), await create("c", ALL)];
    expect((await narrow.list()).items.map(({ id }) => id)).toEqual([own.id]);
    for (const { id } of [foreign, all]) {
      for (const call of [() => narrow.get(id), () => narrow.update(id, { name: "x" }), () => narrow.delete(id)]) {
        expect(await refusalOf(call)).toMatchObject({ status: 404, code: "resource_not_found" });
      }
    }
    const mixed = { addresses: ["hello@acme.example.com", SUPPORT] };
    expect(await refusalOf(() => narrow.copy(own.id, mixed))).toMatchObject({ code: "capability_unsupported" });
    expect((await signatures.list()).items).toHaveLength(3);
    expect(await narrow.update(own.id, { name: "mine" })).toMatchObject({ name: "mine" });
  });

  test.each(["ada@elsewhere.example", "*@elsewhere.example"])("a signature cannot be of %s", async (address) => {
    const { create } = openSignatures();
    const refusal = { status: 422, code: "invalid_parameter", param: "address" };
    expect(await refusalOf(() => create("a", address))).toEqual(refusal);
  });

  test.each(["@acme.example.com", "acme", "*@"])("signatures cannot be listed by %s", async (address) => {
    const { called } = openWorld();
    const line = `GET /signatures?address=${encodeURIComponent(address)}`;
    expect(await called(line)).toBe("422 invalid_parameter address");
  });
});
