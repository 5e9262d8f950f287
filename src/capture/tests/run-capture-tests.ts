import { type Clock, MAX_NODE_TIMER, waitingClock } from "../../base/clock.js";
import { SECOND } from "../../base/duration.js";
import { PigeonholeError } from "../../base/error.js";
import { type Changes, type OptionsOf, flag, given, list, wholeNumber } from "../../base/options.js";
import { sleep } from "../../base/wait.js";
import type { SignatureAssumptions } from "../../protocol/signature-assumptions.js";
import { buildReplayBody } from "../replay/build-replay.js";
import type { Capture, CaptureAttempt, Expectation } from "../model/capture.js";
import { type CaptureFile, readCaptureFiles, writeCaptureFile } from "../folder/capture-files.js";
import { byTime } from "../folder/load-folder.js";
import type { CaptureTestCase, CaptureTestReport } from "./capture-test-report.js";
import { bodyJson, bodyText } from "../model/captured-body.js";
import { answerAdvice, seenAnswer } from "../model/answer-advice.js";
import { outcomeOf } from "../model/answer.js";
import { checkExpectation } from "../model/check-expectation.js";
import { checkHasHandler, checkWork, type InspectedHandler, type FoundWork } from "./check-work.js";
import { ANSWER_TIMEOUT_MS } from "../send/send-request.js";
import { replayCaptures, type ReplayedAttempt } from "../replay/replay-captures.js";
import {
  type InspectedContactEvent,
  type ListContactEvents,
  RecordedContactEvents,
  checkContactEvents,
} from "./recorded-contact-events.js";

/** How captures are tested, wherever the app runs. */
export interface CaptureTestRules {
  /** Sends each capture a second time, which must have no effect. @default false */
  twice?: boolean | undefined;
  /** Writes each answer into its file as the expectation, if an answer came. @default false */
  update?: boolean | undefined;
  /** Expected status if the file does not say. @default status 2xx */
  expect?: Expectation | undefined;
  /** Paths of JSON answers that may differ, in addition to those of the file. @default none */
  ignore?: readonly string[] | undefined;
  /** Longest wait for the handlers, in milliseconds. @default 5,000 */
  settleMs?: number | undefined;
  /** Longest wait for an answer, in milliseconds; after 5 s it counts as none. @default 5,000 */
  timeoutMs?: number | undefined;
  /** Changes to what the service's documentation leaves open. @default SIGNATURE_ASSUMPTIONS */
  assumptions?: Changes<SignatureAssumptions> | undefined;
  /** Time of signing. @default the machine's */
  clock?: Clock | undefined;
}

export interface CaptureTestOptions extends CaptureTestRules {
  /** A folder of capture files, or one file. */
  folder: string;
  /** Target: a port, host:port/path or URL. Without a path the captured one is used. */
  target: string;
  /** The whole secret of the app under test. */
  secret: string;
  /**
   * Reads the app's inbox; undefined for an unknown event. A handler to which the file gives no state must be done, and
   * a file without `handlers` must be of an event that a handler gets.
   * @default handlers are not checked
   */
  inspect?: ((eventId: string) => Promise<readonly InspectedHandler[] | undefined>) | undefined;
  /**
   * Reads the app's outbox, into which nothing else may record. A contact event to which the file gives no state must
   * not be dead.
   * @default contact events are not checked
   */
  listContactEvents?: ListContactEvents | undefined;
  /** Allows a target outside this machine and private networks. @default false */
  allowRemote?: boolean | undefined;
  /** Ends the run before the next case. @default none */
  signal?: AbortSignal | undefined;
  /** Called after each case. @default none */
  onCase?: ((testCase: CaptureTestCase) => void) | undefined;
}

const SETTLE_MS = 5 * SECOND;

/** The defaults and checks of {@link CaptureTestRules}. */
export const CAPTURE_TEST_RULES = {
  twice: flag({ default: false }),
  update: flag({ default: false }),
  expect: given<Expectation>({ default: {} }),
  ignore: list<string>({ default: [] }),
  settleMs: wholeNumber({ default: SETTLE_MS, min: 0 }),
  timeoutMs: wholeNumber({ default: ANSWER_TIMEOUT_MS, min: 1, max: MAX_NODE_TIMER }),
  assumptions: given<Changes<SignatureAssumptions>>({ default: {} }),
  clock: given<Clock>({ default: waitingClock }),
} satisfies OptionsOf<CaptureTestRules>;

const POLL_INTERVAL_MS = 10;

/**
 * Replays a folder of captures against a running app, in the order of arrival, signed again and each with a new event
 * id, so that an inbox that has seen them before runs its handlers again. Rejects with `invalid_capture` for a file
 * that is not a capture, and like `replayCaptures`.
 */
export async function runCaptureTests(options: CaptureTestOptions): Promise<CaptureTestReport> {
  const { files, broken } = readCaptureFiles(options.folder);
  const [unreadable] = broken;
  // A skipped fixture would be a test that passes without being run.
  if (unreadable !== undefined) {
    throw new PigeonholeError("invalid_capture", `${unreadable.file}: ${unreadable.reason}`);
  }
  if (files.length === 0) throw new PigeonholeError("no_capture", `There are no *.json files in "${options.folder}".`);
  const { listContactEvents: list, settleMs = SETTLE_MS } = options;
  const recorded = list && new RecordedContactEvents(list, settleMs);
  const started = performance.now();
  const cases: CaptureTestCase[] = [];
  for (const file of files.toSorted((a, b) => byTime(a.capture, b.capture))) {
    if (options.signal?.aborted === true) break;
    const testCase = await runCase(file, options, recorded);
    cases.push(testCase);
    options.onCase?.(testCase);
  }
  const failed = cases.filter(({ passed }) => !passed);
  return {
    cases,
    passed: cases.length - failed.length,
    failed: failed.length,
    unanswered: failed.filter(({ status }) => status === null).length,
    ms: Math.round(performance.now() - started),
  };
}

async function runCase(
  { file, capture }: CaptureFile,
  options: CaptureTestOptions,
  recorded: RecordedContactEvents | undefined,
): Promise<CaptureTestCase> {
  const expectation = expectationOf(capture, options);
  const fresh = withNewId(capture);
  const first = await sendOnce(fresh, options);
  const { attempt, failure } = first;
  const answered = attempt.status !== null;
  const eventId = fresh.event.id;
  const taken = isTaken(attempt);
  const found = taken && eventId !== null ? await waitForHandlers(eventId, expectation, options) : undefined;
  const contactEvents = taken ? await recorded?.take() : undefined;
  const update = options.update === true && answered;
  if (update) {
    await writeCaptureFile(file, { ...capture, expect: expectationFrom({ first, found, contactEvents, capture }) });
  }
  const failures = update
    ? []
    : [
        ...checkExpectation(expectation, attempt),
        ...checkWork(expectation, attempt, found),
        ...checkHasHandler(expectation, fresh, found),
        ...checkContactEvents(expectation, contactEvents),
      ];
  if (options.twice === true && answered) {
    failures.push(...(await checkSecond({ fresh, first, before: found, eventId, options })));
  }
  return {
    file,
    captureId: capture.id,
    name: `${capture.event.type ?? "unreadable"} ${capture.id}`,
    passed: failures.length === 0,
    failures,
    advice: failures.length === 0 ? null : adviceFor(attempt),
    eventId,
    status: attempt.status,
    outcome: outcomeOf(attempt.headers) ?? null,
    handlers: found === undefined || found === "unknown" ? null : [...found],
    contactEvents: contactEvents === undefined ? null : [...contactEvents],
    ms: attempt.ms,
    failure,
    updated: update,
  };
}

function adviceFor(attempt: CaptureAttempt): string | null {
  return answerAdvice({ ...seenAnswer(attempt), isSigned: true, pathFlag: "--to 3000/hooks" }) ?? null;
}

function expectationOf(capture: Capture, { expect = {}, ignore = [] }: CaptureTestOptions): Expectation {
  const wanted = capture.expect ?? expect;
  return { ...wanted, ignore: [...(wanted.ignore ?? []), ...ignore] };
}

/** The capture with an id that no inbox has seen. Unchanged if it has no id that can be changed. */
function withNewId(capture: Capture): Capture {
  const { changed, eventId } = buildReplayBody(capture, { identity: "new-id" });
  if (changed === null) return capture;
  return { ...capture, event: { ...capture.event, id: eventId }, request: { ...capture.request, body: changed } };
}

async function sendOnce(capture: Capture, options: CaptureTestOptions): Promise<ReplayedAttempt> {
  const { target, secret, timeoutMs, allowRemote, assumptions, signal, clock } = options;
  const report = await replayCaptures({
    captures: [capture],
    target,
    secret,
    timeoutMs,
    allowRemote,
    assumptions,
    clock,
    signal,
  });
  const [replayed] = report.attempts;
  if (replayed !== undefined) return replayed;
  throw new PigeonholeError("invalid_argument", "The test run was aborted.");
}

const FINAL_STATES: ReadonlySet<string> = new Set(["done", "dead", "parked"]);

function isTaken({ status }: CaptureAttempt): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** The handlers once each has run and is as expected, or their states when the time is over. */
async function waitForHandlers(
  eventId: string,
  { handlers = {} }: Expectation,
  { inspect, settleMs = SETTLE_MS }: CaptureTestOptions,
): Promise<FoundWork> {
  if (inspect === undefined) return undefined;
  const deadline = performance.now() + settleMs;
  for (;;) {
    const found = await inspect(eventId);
    // An event is in the inbox before it is answered.
    if (found === undefined) return "unknown";
    const hasRun = found.every(({ state, attempts }) => state !== "running" && (state !== "pending" || attempts > 0));
    const isAsExpected = Object.entries(handlers).every(([name, wanted]) => {
      const state = found.find(({ handler }) => handler === name)?.state;
      return state !== undefined && (state === wanted || FINAL_STATES.has(state));
    });
    if ((hasRun && isAsExpected) || performance.now() > deadline) return found;
    await sleep(waitingClock, POLL_INTERVAL_MS);
  }
}

interface SecondInput {
  fresh: Capture;
  first: ReplayedAttempt;
  before: FoundWork;
  eventId: string | null;
  options: CaptureTestOptions;
}

/** A second delivery of an event must be answered 2xx, be recognized as a duplicate, and run no handler again. */
async function checkSecond({ fresh, first, before, eventId, options }: SecondInput): Promise<string[]> {
  // A delivery that was refused the first time may be refused again.
  if (first.attempt.status === null || first.attempt.status >= 300) return [];
  const { attempt } = await sendOnce(fresh, options);
  const names = outcomeOf(first.attempt.headers) !== undefined;
  const wanted: Expectation = names ? { status: "2xx", outcome: "duplicate" } : { status: "2xx" };
  const failures = checkExpectation(wanted, attempt);
  if (before !== undefined && before !== "unknown" && eventId !== null) {
    const after = (await options.inspect?.(eventId)) ?? [];
    for (const { handler, state, attempts } of before) {
      const now = after.find((one) => one.handler === handler);
      if (state === "done" && now?.attempts !== attempts) failures.push(`Handler ${handler} ran again.`);
    }
  }
  return failures.map((failure) => `Second delivery: ${failure}`);
}

interface SeenCase {
  first: ReplayedAttempt;
  found: FoundWork;
  contactEvents: readonly InspectedContactEvent[] | undefined;
  capture: Capture;
}

/** What was seen as an expectation. Paths to ignore stay, and so does what was not looked at. */
function expectationFrom({ first: { attempt }, found, contactEvents, capture }: SeenCase): Expectation {
  const outcome = outcomeOf(attempt.headers);
  const json = attempt.body === null || !bodyText(attempt.body) ? { ok: false as const } : bodyJson(attempt.body);
  const states = found === "unknown" ? undefined : found?.map(({ handler, state }) => [handler, state] as const);
  const { ignore, contactEvents: before } = capture.expect ?? {};
  const sent = contactEvents && Object.fromEntries(contactEvents.map(({ name, state }) => [name, state]));
  const recorded = sent ?? before ?? {};
  return {
    status: String(attempt.status),
    ...(outcome === undefined ? {} : { outcome }),
    ...(states === undefined ? {} : { handlers: Object.fromEntries(states) }),
    ...(Object.keys(recorded).length === 0 ? {} : { contactEvents: recorded }),
    ...(json.ok ? { json: json.value } : {}),
    ...(ignore === undefined ? {} : { ignore }),
  };
}
