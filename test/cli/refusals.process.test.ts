import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSqliteStore } from "pigeonhole";
import { sampleEvent } from "pigeonhole/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { writeCaptures } from "./import-events.js";
import { makeFolder } from "../support/folder.js";
import { jsonLines, runCli, SECRET } from "../support/run-cli.js";

const env: Record<string, string> = { WEBHOOK_SECRET: SECRET, PIGEONHOLE_API_KEY: "k", API: "http://127.0.0.1:9" };
const ENDPOINT = `whe_${"0".repeat(24)}`;
/** By what is in them. */
const folders = { nothing: "", captures: "", inbox: "" };

beforeAll(async () => {
  for (const name of ["nothing", "captures", "inbox"] as const) {
    folders[name] = realpathSync(mkdtempSync(join(tmpdir(), "pigeonhole-test-")));
  }
  const { captures: cwd, inbox } = folders;
  await writeCaptures(cwd, sampleEvent("email.sent"), sampleEvent("email.sent"));
  const store = createSqliteStore({ file: join(inbox, "pigeonhole.db") });
  await store.open({ logger: silentLogger });
  await store.close();
});

afterAll(() => {
  for (const folder of Object.values(folders)) rmSync(folder, { recursive: true, force: true });
});

async function expectRefused(line: string, words: string, cwd: string): Promise<void> {
  const { code, stdout, stderr } = await runCli(line.split(" "), { cwd, env });
  expect(stderr).toContain(words);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
}

test.each([
  ["triger", "unknown command 'triger' (Did you mean trigger?)"],
  ["trigger --bdy x", "unknown option '--bdy' (Did you mean --body?)"],
  ["inbox show --db . -- -evt", "is a folder"],
  ["inbox", "pigeonhole inbox needs one of its commands"],
  ["inbox lst", "Did you mean list?"],
  ["inbox list --limit 0", "'--limit <rows>' argument '0' is invalid. It must be a whole number"],
  [
    "inbox list --state lost",
    "Allowed choices are pending, running, retrying, done, discarded, dead, parked, unhandled",
  ],
  ["inbox show", "missing required argument 'id'"],
  ["trigger email.recieved", "Did you mean email.received?"],
  ["trigger", "Give a type such as email.received: email.received"],
  ["replay last --timeout soon", "'--timeout <time>' argument 'soon' is invalid"],
  ["trigger email.sent --expect good", "--expect must be a status"],
  ["trigger email.sent --to ftp://x --sign missing", '--to: "ftp://x" is not a target'],
  ["trigger email.sent --to http://192.0.2.1/", "--allow-remote"],
  ["trigger email.sent --secret env:MISSING", "--secret: the variable MISSING is not set"],
  ["trigger email.sent --secret file:none.txt", "--secret: the file none.txt cannot be read"],
  ["trigger email.sent --to 9 --inbox none.db", "none.db, which --inbox names"],
  ["doctor extra", "too many arguments"],
  ["doctor --app ", '--app: "" is not a target'],
  ["-C /does/not/exist doctor", "--cwd: the folder /does/not/exist does not exist"],
  [`-C ${process.execPath} doctor`, `--cwd: ${process.execPath} is not a folder.`],
  ["inbox list --db .", "is a folder; give the path of a receiver's database"],
  ["inbox list", "There is no file"],
  ["captures list", "There are no captures in"],
  ["captures export all --out out.ndjson", "There are no captures in"],
  ["captures types", "There are no captures in"],
  ["captures export none.ndjson", "There is no file or folder"],
  [`endpoints repair ${ENDPOINT}`, "--since"],
  [`endpoints repair ${ENDPOINT} --since 1d`, "PIGEONHOLE_BASE_URL"],
  ["postgres schema --from 999", "newer than this version"],
  ["sandbox --clock 0x", "above 0"],
  ["sandbox --endpoint nowhere", "'--endpoint <url=types>' argument 'nowhere' is invalid"],
  ["sandbox --endpoint http://127.0.0.1:1/=nothing.*", "No event type begins with nothing."],
  ["sandbox --endpoint http://192.0.2.1/", "192.0.2.1 is outside this machine and its private network"],
  ["sandbox --endpoint http://[2001:db8::1]/", "--allow-remote permits that"],
  ["sandbox --endpoint http://127.0.0.1:1/ --secret whsec_short", "must be whsec_ and 43"],
  ["dev --with-sandbox --secret whsec_tooshort", "--secret: "],
  ["dev --with-sandbox --register --public-url https://a.example", "give one of them"],
  ["dev --register", "give --tunnel cloudflared"],
  ["dev --register --public-url https://hooks.example.com", "PIGEONHOLE_BASE_URL"],
  ["dev -f 99999", '--forward-to: "99999" is not a target'],
  ["dev -f http://a:b@c/", "target"],
  ["dev -H nothing", "must be a header"],
  ["dev --port 0 --no-page --path hooks", "--path must start"],
  ["dev --port 0 --no-page --inbox none.db", "none.db"],
  ["test nowhere --answers-only", "nowhere"],
])("the command line %j ends with 2, prints nothing else and says what is wrong", (line, words) =>
  expectRefused(line, words, folders.nothing),
);

test.each([
  ["replay", "missing required argument 'selection'"],
  ["replay cap_nothing", "cap_nothing"],
  ["replay last --exact --new-id", "--exact sends the captured bytes, so --new-id"],
  ["replay nonsense:1", "nonsense"],
  ["replay last", "was never sent anywhere; give --to"],
  ["captures show type:email.*", "picks 2 captures; give one"],
])("on two captures %j ends with 2 and says what is wrong", (line, words) =>
  expectRefused(line, words, folders.captures),
);

test.each([
  ["inbox retry", "choose work with --state, --handler, --type, --source, --error, --error-group, --since or --until"],
  ["inbox retry evt_1 --state dead", "Give either ids"],
  ["inbox retry --state parked --type email.bou*", "email.bounced"],
  ["inbox list --type email.*", "Give one whole type"],
  ["inbox discard --error-group x", "argument 'x' is invalid. It must be the id of a group, as"],
  [`inbox retry --error-group group_${"A".repeat(60)}`, "a stand-in of the dashboard"],
  ["inbox discard evt_1", "--yes"],
  ["inbox errors --since 1h --until 2h", "--since must be before --until"],
  [`inbox pause ${"n".repeat(201)}`, "1 to 200 characters"],
  ["inbox erase --email ann.particular@example.com", "Pass --yes to confirm without a terminal."],
  ["inbox erase --yes", "Give the address with --email."],
  ["inbox erase --yes --email a@b.c,b@c.de", "email must be one address"],
  ["outbox retry", "choose dead ones with --state, --name, --error, --since or --until"],
  ["outbox discard key_1 --name greeted", "Give either keys"],
])("on an inbox %j ends with 2 and says what is wrong", (line, words) => expectRefused(line, words, folders.inbox));

test("the error of a wrong command line is a JSON line on standard error with --json", async () => {
  const { code, stderr } = await runCli(["inbox", "list", "--json"]);
  expect(code).toBe(2);
  const [line] = jsonLines({ stdout: stderr });
  expect(line).toMatchObject({ schemaVersion: 1, error: { code: "invalid_argument" } });
});

test.each([
  ['{"limits":{"maxEndpoints":-1}}', "--options: limits.maxEndpoints must be"],
  ['{"endpoints":[]}', '--options: createSandbox has no option "endpoints"'],
  ['{"strictUrls":true}', "--endpoint http://127.0.0.1:1/: "],
  ['{"apiKeys":[{"token":"svc_live_secret0123"}}', "options.json is not JSON."],
])("sandbox --options with %s ends with 2 and quotes no key", async (text, words) => {
  const file = join(makeFolder(), "options.json");
  writeFileSync(file, text);
  const args = ["sandbox", "--port", "0", "--endpoint", "http://127.0.0.1:1/", "--options", file];
  const { code, stderr } = await runCli(args, { env });
  expect(stderr).toContain(words);
  expect(stderr).not.toContain("secret0123");
  expect(code).toBe(2);
});
