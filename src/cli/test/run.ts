import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type CaptureTestCase, type CaptureTestReport, toJunit } from "../../capture/tests/capture-test-report.js";
import { type InspectedHandler, runCaptureTests } from "../../capture/tests/run-capture-tests.js";
import { checkLocalTarget } from "../../capture/send/target.js";
import { escapeControls } from "../../base/text.js";
import { makeSecret } from "../../protocol/secret.js";
import type { InboxOperator } from "../../store/inbox-operator.js";
import { openInbox } from "../../store/open-inbox.js";
import type { CommandInput, RunCommand } from "../frame/context.js";
import { EXIT } from "../frame/exit-code.js";
import type { Output } from "../frame/output.js";
import type { test } from "./spec.js";
import { type AppProcess, checkNothingAnswers, startApp, waitForApp } from "./app-process.js";
import { SECRET_VARIABLE } from "../values/secret-option.js";
import { findSigningSecret, requireSigningSecret } from "../values/signing-secret.js";
import { readTarget, checkExpect } from "../values/flag-values.js";

type Input = CommandInput<typeof test>;

/** Starts the app if asked to, runs the cases, and always ends the app. */
export const run: RunCommand<typeof test> = async (input) => {
  const { options, context } = input;
  const { out, cwd, env, signal } = context;
  const expect = checkExpect(options.expect);
  const target = readTarget("--to", options.to);
  if (options.start !== undefined) {
    if (!options.allowRemote) await checkLocalTarget(target.href);
    await checkNothingAnswers(target);
  }
  const secret = findSecret(input);
  const inbox = options.inbox === undefined ? undefined : lazyInbox(resolve(cwd, options.inbox));
  const app =
    options.start === undefined ? undefined : startApp(options.start, { ...env, [SECRET_VARIABLE]: secret }, cwd);
  try {
    await waitUntilReached(input, target, app);
    const report = await runCaptureTests({
      folder: resolve(cwd, input.args.folder ?? "fixtures/webhooks"),
      target: target.href,
      secret,
      twice: options.twice,
      update: options.update,
      ignore: options.ignore,
      timeoutMs: options.timeout,
      allowRemote: options.allowRemote,
      signal,
      onCase: (testCase) => showCase(testCase, out),
      ...(expect !== undefined && { expect: { status: expect } }),
      ...(inbox !== undefined && { inspect: (eventId) => inbox.inspect(eventId) }),
    });
    for (const file of options.reporter) await writeFile(resolve(cwd, file), toJunit(report));
    showSummary(report, out);
    if (report.failed === 0) return EXIT.ok;
    return report.unanswered === report.cases.length ? EXIT.unreachable : EXIT.failed;
  } finally {
    await inbox?.close();
    await app?.stop();
  }
};

/** With `--start` a secret for this run is enough, since the app gets it. */
function findSecret({ options, context }: Input): string {
  if (options.start === undefined) return requireSigningSecret(options.secret, context).value;
  return findSigningSecret(options.secret, context)?.value ?? makeSecret();
}

async function waitUntilReached({ options, context }: Input, target: URL, app: AppProcess | undefined): Promise<void> {
  const { waitFor, patience, allowRemote } = options;
  if (waitFor === undefined && app === undefined) return;
  const isHealth = waitFor !== undefined;
  const url = waitFor === undefined ? target.href : readTarget("--wait-for", waitFor).href;
  await waitForApp({ url, isHealth, patienceMs: patience, allowRemote, app, signal: context.signal });
}

/** Opened at the first read, since the app creates the file when it starts. */
function lazyInbox(file: string) {
  let opened: Promise<InboxOperator> | undefined;
  return {
    async inspect(eventId: string): Promise<readonly InspectedHandler[] | undefined> {
      opened ??= openInbox(file);
      return (await (await opened).getEvent(eventId))?.handlers;
    },
    close: async (): Promise<void> => (await opened?.catch(() => undefined))?.close(),
  };
}

function showCase(testCase: CaptureTestCase, out: Output): void {
  const { name, passed, status, outcome, ms, failures, change, updated } = testCase;
  const { paint } = out;
  const sign = passed ? paint.green("✓") : paint.red("✗");
  const answer = status === null ? "no answer" : `${status}${outcome === null ? "" : ` ${outcome}`}`;
  const turned = change === "fixed" || change === "regressed" ? `  ${change}` : "";
  const line = `${name}  ${answer}  ${ms} ms${turned}${updated ? "  updated" : ""}`;
  const reasons = failures.map((failure) => `    ${escapeControls(failure)}`);
  out.result({ case: testCase }, [`${sign} ${escapeControls(line)}`, ...reasons].join("\n"));
}

function showSummary({ passed, failed, ms }: CaptureTestReport, out: Output): void {
  if (out.isJson) out.result({ summary: { passed, failed, ms } }, "");
  else out.note(`${passed} passed, ${failed} failed.`);
}
