import { resolve } from "node:path";
import {
  type CaptureTestCase,
  type CaptureTestReport,
  describeFailure,
} from "../../capture/tests/capture-test-report.js";
import { type AnswerJudgement, describeAnswer, judgeAnswer } from "../../capture/model/answer.js";
import { readCaptureFiles } from "../../capture/folder/capture-files.js";
import { mentionedAddresses, findLateRefusals } from "../../capture/tests/recorded-contact-events.js";
import { runCaptureTests } from "../../capture/tests/run-capture-tests.js";
import { checkLocalTarget } from "../../capture/send/target.js";
import { SECOND } from "../../base/duration.js";
import { PigeonholeError } from "../../base/error.js";
import { escapeControls } from "../../base/text.js";
import { makeSecret } from "../../protocol/secret.js";
import { usageError, EXIT } from "../frame/command-error.js";
import type { CommandInput, RunCommand } from "../frame/context.js";
import { wait } from "../frame/interruption.js";
import type { Output } from "../frame/output.js";
import type { test } from "./spec.js";
import {
  type AppProcess,
  lastLinesOf,
  startApp,
  waitForApp,
  portVariable,
  isTaken,
  portOf,
} from "../app/app-process.js";
import { type AppDatabase, findAppDatabase, closeEach } from "./app-database.js";
import { answerSign } from "../values/event-work.js";
import { DATABASE_VARIABLE, URL_VARIABLE } from "../values/inbox-place.js";
import { SECRET_VARIABLE, findSigningSecret, requireSigningSecret } from "../values/secret-option.js";
import { readTarget } from "../values/flag-values.js";
import { createSandbox } from "../../sandbox/create-sandbox.js";
import { API_KEY_VARIABLE, BASE_URL_VARIABLE } from "../values/api-client.js";

type Input = CommandInput<typeof test>;

const APP_GRACE_MS = 5 * SECOND;
/** Longest wait for the app to answer. */
const PATIENCE_MS = 60 * SECOND;
const LAST_MOMENT_MS = SECOND;
/** What a handler has left behind, such as a promise that no code awaits, ends the app a moment after its answer. */
const AFTERMATH_MS = SECOND / 2;

/** Starts the app if asked to, runs the cases, and always ends the app. */
export const run: RunCommand<typeof test> = async (input) => {
  const { options, context } = input;
  const { out, signal } = context;
  const target = readTarget("--to", options.to);
  if (options.start !== undefined) {
    if (!options.allowRemote) await checkLocalTarget(target.href);
    await checkNothingAnswers(target);
  }
  const secret = findSecret(input);
  const { answersOnly } = options;
  if (answersOnly && options.inbox !== undefined) throw usageError("Give --inbox or --answers-only, not both.");
  const closers: (() => Promise<void>)[] = [];
  try {
    const { inbox, app } = await prepare(input, { secret, target }, closers);
    if (app !== undefined) {
      const { allowRemote } = options;
      await waitForApp({ url: target.href, patienceMs: PATIENCE_MS, allowRemote, app, signal });
      await inbox?.checkOpened(signal);
    }
    const report = await runCaptureTests({
      folder: folderOf(input),
      target: target.href,
      secret,
      twice: options.twice,
      update: options.update,
      settleMs: options.settle,
      allowRemote: options.allowRemote,
      signal,
      onCase: (testCase) => showCase(testCase, out),
      inspect: inbox && ((eventId) => inbox.inspect(eventId)),
      // Without --start other deliveries may make the app record contact events too.
      listContactEvents: app && inbox && ((afterSeq) => inbox.listContactEvents(afterSeq)),
    });
    showSummary(report, out);
    await untilEnded(app, report.unanswered > 0 ? LAST_MOMENT_MS : AFTERMATH_MS);
    if (app?.ending !== undefined) out.note(`The app ended during the run: ${app.ending}.${lastLinesOf(app)}`);
    const late = app && inbox ? findLateRefusals(report, await inbox.listContactEvents(-1)) : [];
    for (const text of late) out.note(`! ${escapeControls(text)}`);
    if (app === undefined && report.unanswered === report.cases.length) out.note(NOT_STARTED);
    if (report.failed === 0) return app?.ending === undefined && late.length === 0 ? EXIT.ok : EXIT.failed;
    return report.unanswered === report.cases.length ? EXIT.unreachable : EXIT.failed;
  } finally {
    await closeEach(closers.toReversed());
  }
};

interface Prepared {
  app: AppProcess | undefined;
  /** Undefined where only answers are checked. */
  inbox: AppDatabase | undefined;
}

/** Adds to `closers` how each thing that it has made is removed, also if it rejects at a later one. */
async function prepare(
  input: Input,
  { secret, target }: { secret: string; target: URL },
  closers: (() => Promise<void>)[],
): Promise<Prepared> {
  const { options, context } = input;
  const { start, answersOnly } = options;
  const database = await findAppDatabase(options, context);
  const inbox = answersOnly ? undefined : database;
  if (database !== undefined) closers.push(() => database.close());
  if (start === undefined && inbox === undefined && !answersOnly) throw usageError(HANDLERS_UNKNOWN);
  if (start === undefined) return { inbox, app: undefined };
  const captures = readCaptureFiles(folderOf(input)).files.map(({ capture }) => capture);
  const api = await startEmulatedApi(mentionedAddresses(captures));
  closers.push(() => api.close());
  const own = { [SECRET_VARIABLE]: secret, ...portVariable(target, context), ...database?.env, ...api.env };
  const env = { ...context.env, ...own };
  const app = startApp({ command: start, env, cwd: context.cwd, graceMs: APP_GRACE_MS });
  closers.push(() => app.stop());
  return { inbox, app };
}

/** The connection of an app that dies breaks a moment before its end is known. */
async function untilEnded(app: AppProcess | undefined, longestMs: number): Promise<void> {
  if (app !== undefined) await Promise.race([app.ended, wait(longestMs)]);
}

/** Throws `port_in_use` if a program already listens at the target: it would be mistaken for the app. */
async function checkNothingAnswers(target: URL): Promise<void> {
  const port = portOf(target);
  if (!(await isTaken({ hostname: target.hostname, port }))) return;
  throw new PigeonholeError(
    "port_in_use",
    `Port ${port} (--to) is in use by another program, which would be tested in place of the app. End it, leave out --start to test it, or have the app listen at another port and give that with --to.`,
  );
}

function folderOf({ args, context }: Input): string {
  return resolve(context.cwd, args.folder ?? "fixtures/webhooks");
}

/** With `--start` a secret for this run is enough, since the app gets it. */
function findSecret({ options, context }: Input): string {
  if (options.start === undefined) return requireSigningSecret(options.secret, context).value;
  return findSigningSecret(options.secret, context)?.value ?? makeSecret();
}

const NOT_STARTED = "Start the app first, or have the command start it: --start 'npm start'.";

const HANDLERS_UNKNOWN = `Nothing was sent, since the results of handlers would not be known. Have the command start the app with --start 'npm start', or give the app's database with --inbox, ${DATABASE_VARIABLE} or ${URL_VARIABLE}; --answers-only checks the answers alone.`;

function showCase(testCase: CaptureTestCase, out: Output): void {
  const { name, passed, status, outcome, handlers, ms, updated } = testCase;
  const sign = answerSign(passed ? judgeCase(testCase) : "bad", out.paint);
  const answer = `${describeAnswer({ status, outcome })}${handlers?.length === 0 ? ", no handler" : ""}`;
  const line = `${name}  ${answer}  ${ms} ms${updated ? "  updated" : ""}`;
  const reasons = describeFailure(testCase).map((failure) => `    ${escapeControls(failure)}`);
  out.result({ case: testCase }, [`${sign} ${escapeControls(line)}`, ...reasons].join("\n"));
}

/** A case that is as expected can still be one in which the event was not handled. */
function judgeCase({ status, outcome, handlers, contactEvents }: CaptureTestCase): AnswerJudgement {
  if (handlers?.some(({ state }) => state !== "done") === true) return "warn";
  if (contactEvents?.some(({ state }) => state === "dead") === true) return "warn";
  return judgeAnswer({ status, outcome }) === "warn" ? "warn" : "good";
}

function showSummary({ passed, failed, ms }: CaptureTestReport, out: Output): void {
  if (out.isJson) out.result({ summary: { passed, failed, ms } }, "");
  else out.note(`${passed} passed, ${failed} failed.`);
}

/**
 * The service's API for the time of a run, so that the app sends nothing to the workspace that `.env` names. `env` is
 * for the app, `addresses` are those of the workspace's contacts.
 */
async function startEmulatedApi(addresses: readonly string[]) {
  const sandbox = createSandbox({ receiverTime: "machine", contacts: addresses.map((email) => ({ email })) });
  const { url } = await sandbox.listen({ port: 0 });
  return {
    env: { [BASE_URL_VARIABLE]: url, [API_KEY_VARIABLE]: sandbox.apiKey },
    close: () => sandbox.close(),
  };
}
