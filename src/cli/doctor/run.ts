import { checkApp } from "./check-app.js";
import { checkClock } from "./check-clock.js";
import { checkReceiver } from "./check-receiver.js";
import { checkWorkspace } from "./check-workspace.js";
import { type CheckResult, checksNamed } from "../frame/check-result.js";
import { usageError, EXIT } from "../frame/command-error.js";
import type { CommandContext, CommandInput, RunCommand } from "../frame/context.js";
import type { Output } from "../frame/output.js";
import type { doctor } from "./spec.js";
import { API_KEY_VARIABLE, BASE_URL_VARIABLE, openClient } from "../values/api-client.js";
import { readPlace } from "../values/inbox-place.js";
import { findSecrets, readVariable, reportSecrets } from "../values/secret-option.js";
import { readWebhookUrl } from "../values/flag-values.js";
import { errorMessage } from "../../base/error-text.js";
import type { InboxOperator } from "../../store/inbox-operator.js";
import { type InboxSearch, findInbox } from "../values/find-inbox.js";

/** Prints each check as soon as it is known. */
export const run: RunCommand<typeof doctor> = async (input) => {
  const { context } = input;
  let failures = 0;
  for await (const result of checks(input)) {
    show(result, context.out);
    if (result.status === "fail") failures += 1;
  }
  if (failures > 0) context.out.note(`\n${failures} of the checks failed.`);
  return failures === 0 ? EXIT.ok : EXIT.failed;
};

async function* checks({ options, context }: CommandInput<typeof doctor>): AsyncGenerator<CheckResult> {
  const { app, db, allowRemote } = options;
  const { signal } = context;
  // Read first, so that an error on the command line ends it before the first check and not in the middle.
  const url = app === undefined ? undefined : readWebhookUrl("--app", app);
  const baseUrl = readBaseUrl(context);
  yield await checkReceiver();
  const secrets = findSecrets(options.secret, context);
  yield* reportSecrets(secrets);
  yield await checkClock(baseUrl, signal);
  const apiKey = readVariable(API_KEY_VARIABLE, context);
  if (baseUrl !== undefined && apiKey !== undefined) {
    yield* checkWorkspace({ client: openClient(context), apiKey, signal });
  }
  if (url !== undefined) yield* checkApp({ url, secret: secrets[0], allowRemote, signal });
  else yield checksNamed("app").skip("Not tried: give --app, the URL of the webhook route of your running app.");
  yield* checkDatabase(await findInbox(context, db === undefined ? undefined : readPlace("--db", db, context)));
}

function readBaseUrl(context: CommandContext): URL | undefined {
  const text = readVariable(BASE_URL_VARIABLE, context);
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "https:" || url?.protocol === "http:") return url;
  throw usageError(`${BASE_URL_VARIABLE} must be the http(s) URL of the API, got "${text}".`);
}

function show({ name, status, message, fix }: CheckResult, { paint, ...out }: Output): void {
  const { green, yellow, red, dim } = paint;
  const sign = { pass: green("✓"), warn: yellow("!"), fail: red("✗"), skip: dim("–") }[status];
  const fixLine = fix === null ? "" : `\n             ${dim("→")} ${fix}`;
  out.result({ check: name, status, message, fix }, `${sign} ${name.padEnd(10)} ${message}${fixLine}`);
}

/** Finds work that needs a person in the receiver's database. No result if there is none and none was named. */
async function* checkDatabase(found: InboxSearch): AsyncGenerator<CheckResult> {
  const { by = "--db", flag } = found.place;
  if (found.kind === "absent" && found.place.by !== "--db") return;
  const { fail, skip } = checksNamed("database");
  try {
    if (found.kind === "open") yield await checkWork(found.inbox, flag);
    else if (found.kind === "without_inbox" && by !== "--db") yield skip(`Not looked at: ${found.error.message}`);
    else throw found.error;
  } catch (error) {
    yield fail(errorMessage(error), `Look at ${by}.`);
  } finally {
    if (found.kind === "open") await found.inbox.close();
  }
}

async function checkWork(inbox: InboxOperator, flag: string): Promise<CheckResult> {
  const { database } = inbox;
  const { events, contactEvents } = await inbox.overview();
  const { dead, parked, pending } = events;
  const counts = { "inbox list --state dead": dead, "inbox list --state parked": parked };
  const lists = Object.entries({ ...counts, "outbox list --state dead": contactEvents.dead })
    .filter(([, count]) => count > 0)
    .map(([list]) => `npx pigeonhole ${list}${flag}`);
  const { pass, warn } = checksNamed("database");
  if (lists.length === 0) return pass(`${database} is in order; ${pending} pending.`);
  return warn(
    `${database} has ${dead} dead and ${parked} parked pieces of work, and ${contactEvents.dead} dead contact events.`,
    `Look with ${lists.join(" and ")}.`,
  );
}
