import { checkApp } from "./check-app.js";
import { checkClock } from "./check-clock.js";
import { checkDatabase } from "./check-database.js";
import { checkNode, checkPort, checkReceiver, checkTunnelPrograms } from "./check-machine.js";
import { checkSqliteCopies } from "./check-sqlite-copies.js";
import { checkWorkspace } from "./check-workspace.js";
import { reportSecrets } from "../values/report-secrets.js";
import { type CheckResult, type CheckStatus, skip } from "../frame/check-result.js";
import { usageError } from "../frame/command-error.js";
import type { CommandContext, RunCommand } from "../frame/context.js";
import { EXIT } from "../frame/exit-code.js";
import type { Output, Paint } from "../frame/output.js";
import type { doctor } from "./spec.js";
import { API_KEY_VARIABLE, BASE_URL_VARIABLE, openClient } from "../values/api-client.js";
import { presentPlaces, readPlace } from "../values/inbox-place.js";
import { findSecrets, readVariable } from "../values/secret-option.js";
import { readWebhookUrl } from "../values/flag-values.js";

/** Prints each check as soon as it is known. */
export const run: RunCommand<typeof doctor> = async ({ options, context }) => {
  let failures = 0;
  for await (const result of checks(options, context)) {
    show(result, context.out);
    if (result.status === "fail") failures += 1;
  }
  if (failures > 0) context.out.note(`\n${failures} of the checks failed.`);
  return failures === 0 ? EXIT.ok : EXIT.failed;
};

interface DoctorOptions {
  app: string | undefined;
  secret: string[];
  db: string | undefined;
  port: number;
  allowRemote: boolean;
}

async function* checks(options: DoctorOptions, context: CommandContext): AsyncGenerator<CheckResult> {
  const { app, db, allowRemote } = options;
  const { env, cwd, signal } = context;
  // Read first, so that an error on the command line ends it before the first check and not in the middle.
  const url = app === undefined ? undefined : readWebhookUrl("--app", app);
  const baseUrl = readBaseUrl(context);
  yield checkNode();
  yield await checkReceiver();
  yield checkSqliteCopies(cwd);
  const secrets = findSecrets(options.secret, context);
  yield* reportSecrets(secrets);
  yield await checkClock(baseUrl, signal);
  const apiKey = readVariable(API_KEY_VARIABLE, context);
  if (baseUrl !== undefined && apiKey !== undefined) {
    const client = openClient(context);
    yield* checkWorkspace({ client, apiKey, signal });
  }
  if (url !== undefined) yield* await checkApp({ url, secret: secrets[0], allowRemote, signal });
  else yield skip("app", "Not tried: give --app, the URL of the webhook route of your running app.");
  yield* await checkDatabase(db === undefined ? presentPlaces(context) : [readPlace("--db", db, context)]);
  yield await checkPort(options.port);
  yield checkTunnelPrograms(env);
}

function readBaseUrl(context: CommandContext): URL | undefined {
  const text = readVariable(BASE_URL_VARIABLE, context);
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "https:" || url?.protocol === "http:") return url;
  throw usageError(`${BASE_URL_VARIABLE} must be the http(s) URL of the API, got "${text}".`);
}

function show({ name, status, message, fix }: CheckResult, out: Output): void {
  const fixLine = fix === null ? "" : `\n             ${out.paint.dim("→")} ${fix}`;
  out.result(
    { check: name, status, message, fix },
    `${sign(status, out.paint)} ${name.padEnd(10)} ${message}${fixLine}`,
  );
}

function sign(status: CheckStatus, { green, yellow, red, dim }: Paint): string {
  return { pass: green("✓"), warn: yellow("!"), fail: red("✗"), skip: dim("–") }[status];
}
