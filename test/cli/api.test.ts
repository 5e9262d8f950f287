import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startSandboxServer } from "pigeonhole/sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { errorCodesOf } from "#pigeonhole/contract/error-codes-of.js";
import { listOperations } from "#pigeonhole/contract/contract.js";
import { jsonLines, runCli } from "../support/run-cli.js";
import { makeFolder } from "../support/folder.js";
// The first call loads the command, which is no time of a test.
import "#pigeonhole/cli/api/run.js";

type Running = Awaited<ReturnType<typeof startSandboxServer>>;
let server: Running;
let env: Record<string, string>;

beforeAll(async () => {
  server = await startSandboxServer({ port: 0, clock: "real" });
  const { sandbox, url: baseUrl } = server;
  env = { PIGEONHOLE_BASE_URL: baseUrl, PIGEONHOLE_API_KEY: sandbox.clientOptions.apiKey };
  sandbox.apiKeys.add({ token: "svc_live_none", scopes: [] });
});
afterAll(() => server.close());

const call = (...words: string[]) => runCli(["api", ...words], { env });
/** The result of a call with `--json`. */
const resultOf = async (...words: string[]): Promise<unknown> => {
  const { stdout, stderr } = await call(...words, "--json");
  expect(stderr).toBe("");
  return jsonLines({ stdout })[0]?.["result"];
};

describe("pigeonhole api", () => {
  test("pigeonhole api alone lists every resource, and a resource its calls", async () => {
    const { stdout } = await call();
    const { stdout: labels } = await call("labels");
    for (const { resource, name, operation } of listOperations()) {
      expect(stdout).toMatch(new RegExp(`^${resource} .*\\b${name}\\b`, "m"));
      if (resource === "labels") expect(labels).toContain(`${operation.method} ${operation.path}`);
    }
    const lines = jsonLines(await call("labels", "--json"));
    expect(lines[0]).toMatchObject({ call: "labels.list", method: "GET", path: "/labels" });
  });

  test.each(listOperations().map(({ resource, name, operation }) => [`${resource}.${name}`, operation] as const))(
    "the help of %s has its fields, its errors and an example",
    async (name, operation) => {
      const { code, stdout } = await call(name, "--help");
      expect(code).toBe(0);
      const { params, query, body, fires = [], doc, pathIsAssumed } = operation;
      const fields = [params, query, body].flatMap((schema) => Object.keys(schema?.shape ?? {}));
      for (const part of [doc, ...fields, ...errorCodesOf(operation), ...fires, `pigeonhole api ${name}`])
        expect(stdout).toContain(part);
      expect(stdout.includes("The path is an assumption")).toBe(pathIsAssumed === true);
      expect(stdout).not.toMatch(/undefined|\[object/);
    },
  );

  test("--help without a call is the help of the command", async () => {
    expect((await call("--help")).stdout).toMatch(/Usage: pigeonhole api .*--idempotency-key/s);
  });
});

describe("a call of pigeonhole api", () => {
  test("a call sends its parameters, query and body, and prints the answer", async () => {
    const label = await resultOf("labels.create", "--body", '{"name":"Big orders"}');
    expect(label).toMatchObject({ id: "USER_BIG_ORDERS" });
    expect(await resultOf("labels.get", "USER_BIG_ORDERS")).toEqual(label);
    const file = join(makeFolder(), "body.json");
    writeFileSync(file, '{"name":"Orders"}');
    expect(await resultOf("labels.update", "USER_BIG_ORDERS", "--body", `@${file}`)).toMatchObject({ name: "Orders" });
    const { stdout } = await call("labels.list", "--query", "limit=1");
    expect(JSON.parse(stdout)).toMatchObject({ items: [{ name: "Orders" }], hasMore: false });
    expect(await resultOf("labels.delete", "USER_BIG_ORDERS")).toMatchObject({ deleted: true });
  });

  test("a call that takes one field takes it with and without its name, and an idempotency key", async () => {
    const email = "ada@customer.example.com";
    await call("contacts.create", "--body", JSON.stringify({ email }));
    const events = [{ name: "order.paid", email }];
    for (const body of [events, { events }]) {
      const words = ["--body", JSON.stringify(body), "--idempotency-key", "k"];
      expect(await resultOf("contactEvents.sendBatch", ...words)).toMatchObject({ accepted: [{ index: 0 }] });
    }
    expect(await resultOf("contactEvents.names")).toEqual(["order.paid"]);
    expect(jsonLines(await call("contactEvents.list", email, "--all", "--json"))).toHaveLength(1);
  });

  test("a list is printed page by page, or whole with --all", async () => {
    for (const name of ["c", "a", "b"]) await resultOf("labels.create", "--body", JSON.stringify({ name }));
    const page = await call("labels.list", "--query", "limit=2");
    expect(page.stderr).toContain("--all");
    const lines = jsonLines(await call("labels.list", "--query", "limit=2", "--all", "--json"));
    expect(lines.map(({ item }) => (item as { name: string }).name)).toEqual(["a", "b", "c"]);
  });

  test("a file is uploaded from a file, and downloaded into one or to standard output", async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, "a.txt"), "the bytes");
    const query = ["--query", "filename=a=b.txt", "--content-type", "text/plain"];
    const { stdout } = await runCli(["api", "files.upload", ...query, "--body", "@a.txt", "--json"], {
      env,
      cwd: folder,
    });
    const [uploaded] = jsonLines({ stdout }) as { result: { id: string } }[];
    expect(uploaded?.result).toMatchObject({ filename: "a=b.txt", contentType: "text/plain" });
    const id = uploaded?.result.id;
    const saved = await runCli(["api", "files.content", id ?? "", "--out", "b.txt", "--json"], { env, cwd: folder });
    expect(jsonLines(saved)[0]).toMatchObject({ file: "b.txt", bytes: 9, contentType: "text/plain" });
    expect(readFileSync(join(folder, "b.txt"), "utf8")).toBe("the bytes");
    expect(await call("files.content", id ?? "")).toMatchObject({ code: 0, stdout: "the bytes" });
    const onScreen = await runCli(["api", "files.content", id ?? ""], { env, isTerminal: true });
    expect([onScreen.code, onScreen.stdout]).toEqual([2, ""]);
    expect(onScreen.stderr).toContain("--out <file>");
  });
});

describe("a call that cannot be sent", () => {
  test.each([
    [["contacts.gte"], "no call contacts.gte. Did you mean contacts.get?"],
    [["contact"], "Did you mean contacts?"],
    [["contacts.subscribe"], "Calls of contacts: contacts.list, contacts.get"],
    [["xyzzy"], "Its resources are chats, contactEvents"],
    [["labels", "x"], "labels is a resource"],
    [["labels.get"], "labels.get needs <id>. For example: pigeonhole api labels.get"],
    [["labels.get", "a", "b"], "labels.get takes <id>; there are too many"],
    [["labels.palette", "a"], "labels.palette takes no parameters"],
    [["labels.create"], "labels.create was not sent: name: "],
    [["contacts.people", "--query", "blocked=maybe"], "received string. See pigeonhole api contacts.people --help."],
    [["labels.create", "--body", "{"], "--body: it is not JSON"],
    [["labels.create", "--body", "@nowhere.json"], "--body: the file nowhere.json does not exist"],
    [["labels.create", "--body", '{"nme":"x"}'], "labels.create was not sent: name:"],
    [["files.upload", "--query", "filename=a", "--body", "text"], "files.upload needs --body @file"],
    [["labels.list", "--query", "limt=1"], "labels.list was not sent: limt: "],
    [["labels.list", "--query", "limit"], "give its value too, as limit=value"],
    [["labels.list", "--query", "limit=1", "--query", "limit=2"], "limit is given twice"],
    [["labels.list", "--query", "limit=five"], "limit: Must be a whole number from 1 to 100."],
    [["labels.get", "a", "--query", "x=1"], "--query: labels.get has no query"],
    [["labels.get", "a", "--body", "{}"], "--body: labels.get takes no body"],
    [["labels.get", "a", "--all"], "--all: labels.get is no list"],
    [["labels.get", "a", "--out", "f"], "--out: labels.get downloads no file"],
    [["labels.list", "--content-type", "a/b"], "--content-type: labels.list uploads no file"],
    [["labels.list", "--idempotency-key", "k"], "--idempotency-key: labels.list takes no idempotency key"],
  ])("the call %j ends with 2 and says what is wrong", async (words, said) => {
    const { code, stdout, stderr } = await call(...words);
    expect(stderr).toContain(said);
    expect([code, stdout]).toEqual([2, ""]);
  });

  test("a call without a key or an address of the API names the variable", async () => {
    const { code, stderr } = await runCli(["api", "labels.list"], { env: {}, cwd: makeFolder() });
    expect([code, stderr]).toEqual([2, expect.stringContaining("set PIGEONHOLE_BASE_URL")]);
  });
});

describe("a call that the API refuses", () => {
  test.each<[words: string[], code: string, said: string]>([
    [
      ["contacts.get", "nobody@x.example"],
      "contact_not_found",
      "The contact does not exist or cannot be reached. pigeonhole api contacts.list shows what there is.",
    ],
    [["labels.create", "--body", '{"name":"A"}'], "label_name_taken", "Another label has this name"],
    [["labels.list", "--query", "cursor=x"], "invalid_cursor", "Begin the list again"],
  ])("the refused call %j has the code %s and says what to do", async (words, error, said) => {
    await call("labels.create", "--body", '{"name":"A"}');
    const { code, stdout, stderr } = await call(...words, "--json");
    expect([code, stdout]).toEqual([3, ""]);
    expect(jsonLines({ stdout: stderr })[0]).toMatchObject({ error: { code: error } });
    expect(stderr).toContain(said);
  });

  test.each([
    ["svc_live_wrong", "Check the key of PIGEONHOLE_API_KEY"],
    ["svc_live_none", "Use a key with the scope labels:read."],
  ])("a call with the key %s is told what to do", async (key, said) => {
    const { code, stderr } = await runCli(["api", "labels.list"], { env: { ...env, PIGEONHOLE_API_KEY: key } });
    expect([code, stderr]).toEqual([3, expect.stringContaining(said)]);
  });

  test("a call that waits too long for the service is told when to call again", async () => {
    server.sandbox.faults.api.add({
      fault: { kind: "error", status: 429, retryAfter: "77" },
      calls: "labels.create",
      times: 1,
    });
    const { stderr } = await call("labels.create", "--body", '{"name":"later"}');
    expect(stderr).toContain("Call again in 77 s.");
  });
});
