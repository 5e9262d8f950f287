import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { captureHandle } from "#pigeonhole/capture/model/capture-handle.js";
import type { Capture } from "#pigeonhole/capture/model/capture.js";
import { matchesQuery, parseQuery, QUERY_FIELDS } from "#pigeonhole/capture/query/query.js";
import { makeAttempt, makeCapture, NOW } from "../support/captures.js";
import { errorOf } from "../support/error-of.js";

const attempt = makeAttempt({
  kind: "replay",
  mode: "resign",
  status: 503,
  headers: [["X-Pigeonhole-Outcome", "duplicate"]],
  ms: 500,
});
const data = {
  contact: { email: "Ada@b.example" },
  to: ["x@y.example", "z@y.example"],
  text: "Order 1042 - late",
  size: 5,
  test: false,
};
const body = JSON.stringify({ id: "evt_1", type: "email.received", createdAt: "2026-01-01T00:00:00Z", data });
const plain = makeCapture({ body, at: NOW - 600_000 });
const capture: Capture = { ...plain, attempts: [attempt], tags: ["vip"], note: "Look: here", pinned: true };
const unanswered: Capture = { ...capture, attempts: [{ ...attempt, kind: "forward", status: null, error: "refused" }] };

describe("searching captures", () => {
  test.each<[string, boolean]>([
    ["", true],
    ["order 1042", true],
    ['"order 1042"', true],
    ['"1042 order"', false],
    ["-1042", false],
    ["ORDER vip", true],
    ["type:email.*", true],
    ["type:*.received", true],
    ["type:email", false],
    ["type:form.*,email.received", true],
    ["-type:email.*", false],
    ["status:503", true],
    ["status:5xx", true],
    ["status:2xx,5XX", true],
    ["status:none", false],
    ["verdict:ok", true],
    ["outcome:duplicate", true],
    ["outcome:accepted,dup*", true],
    ["outcome:parked", false],
    ["verdict:bad", false],
    ["verdict:ok,stale", true],
    ["is:replay is:pinned is:duplicate", true],
    ["is:redacted", false],
    ["is:test", false],
    ["has:error", false],
    ["has:note has:tag has:attempts has:answer", true],
    ["has:expect", false],
    ["source:live,sandbox", true],
    ["source:sandbox", false],
    ["tag:V*", true],
    ["tag:vi", false],
    ["after:10m", true],
    ["after:599s", false],
    ["before:9m59s", true],
    ["before:2026-01-31", false],
    ["after:2026-01-31T11:50:00Z", true],
    ["id:evt_1", true],
    ["id:cap_", true],
    ["id:vt_1", false],
    ["header.content-type:json", true],
    ["header.X-DUP:2", true],
    ["header.none:*", false],
    ["data.contact.email:ada@b.example", true],
    ["data.contact.email:ada", false],
    ["data.contact.email:*@b.example", true],
    ["data.to:z@y.example", true],
    ["data.to.0:z@y.example", false],
    ["data.size:5", true],
    ["data.none:*", false],
    ["data.test:false", true],
    ["data.text:*o*d*e*r*late", true],
    ["data.text:*late*late", false],
    ['"look: here"', true],
  ])("the search %s matches: %s", (text, found) => {
    expect(matchesQuery(parseQuery(text), capture, NOW)).toBe(found);
  });

  test.each([
    ["the short name that lists show", captureHandle(capture.id), true],
    ["the short name with its mark", `#${captureHandle(capture.id)}`, true],
    ["the id without cap_", capture.id.slice("cap_".length), true],
    ["a part of the short name", captureHandle(capture.id).slice(1), false],
  ])("the search finds a capture by %s", (_, value, found) => {
    expect(matchesQuery(parseQuery(`id:${value}`), capture, NOW)).toBe(found);
  });

  test("outcome: finds an answer with that outcome, also before a later one", () => {
    const parked = makeAttempt({ headers: [["X-Pigeonhole-Outcome", "parked"]] });
    const replayed: Capture = { ...capture, attempts: [parked, attempt] };
    expect(
      ["outcome:parked", "outcome:duplicate", "outcome:accepted"].map((text) =>
        matchesQuery(parseQuery(text), replayed),
      ),
    ).toEqual([true, true, false]);
  });

  test("the search finds captures that were never answered", () => {
    const find = (text: string): boolean => matchesQuery(parseQuery(text), unanswered, NOW);
    expect(["status:none", "has:error", "-is:replay", "-has:answer"].map(find)).toEqual([true, true, true, true]);
    expect(find("status:5xx")).toBe(false);
    expect(matchesQuery(parseQuery("status:none"), plain)).toBe(false);
  });
});

test.each([
  ["colour:red", "type, status, outcome, verdict"],
  ["is:green", "replay, pinned"],
  ["verdict:ok,maybe", "mismatch"],
  ["status:abc", "5xx"],
  ["after:soon", "10m"],
  ["type:", "type:value"],
  ['"open', "quote"],
  ["-", "is empty"],
])("the search %s is refused, and the error names what is allowed", async (text, hint) => {
  const error = await errorOf(() => parseQuery(text));
  expect(error.code).toBe("invalid_query");
  expect(error.message).toContain(hint);
});

test("a query is read into its terms, each with its text", () => {
  const text = String.raw`type:email.* -tag:"very important" "say \"hi\"" -word data.a:"x y"`;
  const query = parseQuery(text);
  expect(query.terms.map((term) => term.field)).toEqual(["type", "tag", null, null, "data.a"]);
  expect(query.terms.map((term) => term.text).join(" ")).toBe(text);
});

test("every search field is described in the help", () => {
  expect(Object.keys(QUERY_FIELDS)).toEqual(expect.arrayContaining(["type", "header.<name>", "data.<path>"]));
  expect(QUERY_FIELDS["is"]?.values).toContain("pinned");
});

test("the modules that the page uses import nothing of Node", () => {
  const folder = resolve(import.meta.dirname, "../../src/capture");
  const read = (name: string): string => readFileSync(resolve(folder, name), "utf8");
  const marked = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".ts") && read(name).includes("Without node: imports"),
  );
  const visited = new Set<string>();
  const visit = (file: string): void => {
    if (visited.has(file)) return;
    visited.add(file);
    const text = readFileSync(file, "utf8");
    expect(text, file).not.toMatch(/from "node:/);
    for (const [, path = ""] of text.matchAll(/^import (?!type)[^;]*from "(\.[^"]+)\.js"/gm))
      visit(resolve(file, "..", `${path}.ts`));
  };
  for (const name of marked) visit(resolve(folder, name));
  expect(marked.length).toBeGreaterThan(8);
});

test("a search accepts a body that is nested without end", () => {
  const nested = `{"id":"evt_2","type":"email.received","data":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
  const hostile = makeCapture({ body: nested });
  for (const text of ["data.a:x", "is:test", "no such text"]) {
    expect(matchesQuery(parseQuery(text), hostile)).toBe(false);
  }
  expect(matchesQuery(parseQuery("type:email.received"), hostile)).toBe(true);
});
