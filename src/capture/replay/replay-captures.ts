import { randomInt } from "node:crypto";
import type { LookupFunction } from "node:net";
import { type Clock, waitingClock } from "../../base/clock.js";
import { PigeonholeError } from "../../base/error.js";
import { checkWholeNumber } from "../../base/option-check.js";
import {
  type Changes,
  type OptionsOf,
  type Resolved,
  callable,
  defineOptions,
  flag,
  given,
  list,
  readBy,
  required,
  wholeNumber,
} from "../../base/options.js";
import { sleep } from "../../base/wait.js";
import type { SignatureAssumptions } from "../../protocol/assumptions.js";
import {
  buildReplayBody,
  buildReplayHeaders,
  checkReplayContent,
  type BuiltBody,
  type ReplayContent,
} from "./build-replay.js";
import type { Capture, CaptureAttempt, Expectation, HeaderList, SignMode } from "../model/capture.js";
import { checkExpectation, checkExpectationText } from "../model/check-expectation.js";
import { type AnswerComparison, compareAnswers } from "./compare-answers.js";
import { encodeAnswerBody } from "../model/encode-body.js";
import { createLocalLookUp } from "../send/local-address.js";
import { overrideHeaders } from "../send/outgoing-headers.js";
import { MAX_SEED, type ReplayOrder } from "./order-captures.js";
import { type ReplayJob, scheduleReplay } from "./replay-schedule.js";
import { ANSWER_TIMEOUT_MS, type SendFailure, sendRequest } from "../send/send-request.js";
import { checkLocalTarget, targetUrl } from "../send/target.js";

export interface ReplayOptions extends ReplayContent {
  /** The captures to send. */
  captures: readonly Capture[];
  /** Target: a port, host:port/path or URL, several, or by capture. Without a path the captured one is used. */
  target: string | readonly string[] | ((capture: Capture) => readonly string[]);
  /** The order of sending. @default 'original', the order of arrival */
  order?: ReplayOrder | undefined;
  /** Seed of the shuffle. @default a random one, which the report names */
  seed?: number | undefined;
  /** Keeps the gaps between arrivals, sped up by this factor. @default no gaps */
  keepTiming?: number | undefined;
  /** Least time between two requests, in milliseconds. @default 0 */
  delayMs?: number | undefined;
  /** How often each capture is sent. @default 1 */
  times?: number | undefined;
  /** Requests at the same time. @default 1, or 50 with keepTiming */
  concurrency?: number | undefined;
  /** What every answer must be. @default nothing is expected */
  expect?: Expectation | undefined;
  /** Paths of JSON answers that may differ from the previous attempt. @default none */
  ignore?: readonly string[] | undefined;
  /** Allows targets outside this machine and private networks. @default false */
  allowRemote?: boolean | undefined;
  /** Longest wait for an answer, in milliseconds; after 5 s it counts as none. @default 5,000 */
  timeoutMs?: number | undefined;
  /** Does not check the certificate of an https target. @default false */
  insecure?: boolean | undefined;
  /** Certificates (PEM) to trust in addition to the machine's. @default none */
  ca?: string | undefined;
  /** Set on every request, in place of captured headers with the same names. @default none */
  headers?: HeaderList | undefined;
  /** When aborted, no request is started and running ones are aborted. */
  signal?: AbortSignal | undefined;
  /** Called after each answer, one at a time; a promise is awaited. */
  onAttempt?: ((replayed: ReplayedAttempt) => void | Promise<void>) | undefined;
  /** Times of sending and signing, and waits. @default the machine's */
  clock?: Clock | undefined;
}

/** One request and its result. */
export interface ReplayedAttempt {
  capture: Capture;
  attempt: CaptureAttempt;
  /** Compared with the previous attempt, at the same target if there is one; null for the first. */
  comparison: AnswerComparison | null;
  /** What is not as expected, one sentence each. */
  failures: string[];
  /** What could not be done as asked, one sentence each. */
  notes: string[];
  /** Why there was no complete answer. */
  failure: SendFailure | null;
}

export interface ReplayReport {
  /** In the order in which they ended. */
  attempts: ReplayedAttempt[];
  /** Planned requests; more than `attempts` if the replay was aborted. */
  planned: number;
  /** Of the shuffle; null for another order. */
  seed: number | null;
  answered: number;
  unanswered: number;
  /** Answers that differ from the previous attempt. */
  changed: number;
  /** Attempts with failed expectations. */
  failed: number;
  aborted: boolean;
}

const MAX_ANSWER_BYTES = 1024 * 1024;
const CONCURRENCY_WITH_TIMING = 50;

/** The defaults and checks of {@link ReplayOptions}; `checkReplayContent` has those of its content. */
export const REPLAY_OPTIONS = defineOptions("replayCaptures", {
  mode: given<SignMode>({ default: "resign" }),
  identity: given<NonNullable<ReplayContent["identity"]>>({ default: "same-id" }),
  secret: given<string>(),
  edit: given<NonNullable<ReplayContent["edit"]>>(),
  assumptions: given<Changes<SignatureAssumptions>>({ default: {} }),
  captures: required<readonly Capture[]>(),
  target: required<ReplayOptions["target"]>(),
  order: given<ReplayOrder>({ default: "original" }),
  seed: readBy((option, seed = randomInt(MAX_SEED)) => checkWholeNumber(option, seed, { min: 0, max: MAX_SEED })),
  keepTiming: readBy(checkSpeed),
  delayMs: wholeNumber({ default: 0, min: 0 }),
  times: wholeNumber({ default: 1, min: 1, max: 1_000_000 }),
  concurrency: wholeNumber({ min: 1, max: 1_000 }),
  expect: given<Expectation>(),
  ignore: list<string>({ default: [] }),
  allowRemote: flag({ default: false }),
  timeoutMs: wholeNumber({ default: ANSWER_TIMEOUT_MS, min: 0 }),
  insecure: flag({ default: false }),
  ca: given<string>(),
  headers: given<HeaderList>({ default: [] }),
  signal: given<AbortSignal>(),
  onAttempt: callable<NonNullable<ReplayOptions["onAttempt"]>>(),
  clock: given<Clock>({ default: waitingClock }),
} satisfies OptionsOf<ReplayOptions>);

type ResolvedReplay = Resolved<typeof REPLAY_OPTIONS>;

/**
 * Sends captures again. Unanswered requests and failed expectations are in the report. Rejects with `invalid_argument`,
 * `invalid_option` or `invalid_secret` before anything is sent if an option cannot be used.
 */
export async function replayCaptures(wanted: ReplayOptions): Promise<ReplayReport> {
  checkReplayContent(wanted);
  const options = REPLAY_OPTIONS.resolve(wanted);
  const { clock, signal, concurrency, keepTiming } = options;
  const lookUp = createLocalLookUp();
  const { jobs, seed } = await plan(options, lookUp);
  const workers = concurrency ?? (keepTiming === undefined ? 1 : CONCURRENCY_WITH_TIMING);
  const attempts: ReplayedAttempt[] = [];
  const history = new Map<string, CaptureAttempt[]>();
  const startedAt = clock.now();
  let next = 0;
  let reported = Promise.resolve();

  async function work(): Promise<void> {
    for (let job = jobs[next]; job !== undefined; job = jobs[next]) {
      if (signal?.aborted === true) return;
      next += 1;
      const waitMs = startedAt + job.dueMs - clock.now();
      if (waitMs > 0 && !(await waitUnlessAborted(clock, waitMs, signal))) return;
      const replayed = await send(job);
      attempts.push(replayed);
      reported = reported.then(() => options.onAttempt?.(replayed));
      await reported;
    }
  }

  async function send({ capture, target }: ReplayJob): Promise<ReplayedAttempt> {
    const content = buildReplayBody(capture, wanted);
    const nowMs = clock.now();
    const headers = overrideHeaders(buildReplayHeaders(capture, content.body, { ...wanted, nowMs }), options.headers);
    const sent = await sendOnce({ capture, target, content, headers, options, lookUp, nowMs });
    const earlier = history.get(capture.id) ?? [...capture.attempts];
    history.set(capture.id, earlier);
    const attempt: CaptureAttempt = { ...sent.attempt, n: (earlier.at(-1)?.n ?? 0) + 1 };
    const before = earlier.findLast((one) => one.target === attempt.target) ?? earlier.at(-1);
    earlier.push(attempt);
    return {
      capture,
      attempt,
      comparison: before === undefined ? null : compareAnswers(before, attempt, options.ignore),
      failures: options.expect === undefined ? [] : checkExpectation(options.expect, attempt),
      notes: content.notes,
      failure: sent.failure,
    };
  }

  await Promise.all(Array.from({ length: Math.min(workers, jobs.length) }, work));
  const answered = attempts.filter(({ attempt }) => attempt.status !== null).length;
  return {
    attempts,
    planned: jobs.length,
    seed,
    answered,
    unanswered: attempts.length - answered,
    changed: attempts.filter(({ comparison }) => comparison?.same === false).length,
    failed: attempts.filter(({ failures }) => failures.length > 0).length,
    aborted: signal?.aborted === true,
  };
}

async function plan(
  options: ResolvedReplay,
  lookUp: LookupFunction,
): Promise<{ jobs: ReplayJob[]; seed: number | null }> {
  const { captures, target, order, seed, times, keepTiming, delayMs, mode, expect, ignore } = options;
  checkExpectationText({ ...expect, ignore: [...(expect?.ignore ?? []), ...ignore] });
  const unsigned = mode === "exact" ? captures.find(({ redaction }) => redaction !== null) : undefined;
  if (unsigned !== undefined) {
    throw new PigeonholeError(
      "invalid_argument",
      `${unsigned.id} was redacted, so it must be signed again, not sent exact.`,
    );
  }
  const targetsOf = (capture: Capture): string[] => {
    const wanted = typeof target === "function" ? target(capture) : typeof target === "string" ? [target] : target;
    return wanted.map((one) => targetUrl(one, capture.request));
  };
  const jobs = scheduleReplay({ captures, targetsOf, order, seed, times, keepTiming, delayMs });
  if (!options.allowRemote) {
    const origins = new Set(jobs.map((job) => new URL(job.target).origin));
    await Promise.all([...origins].map((origin) => checkLocalTarget(origin, lookUp)));
  }
  return { jobs, seed: order === "shuffle" ? seed : null };
}

function checkSpeed(option: string, speed: number | undefined): number | undefined {
  if (speed === undefined || (speed > 0 && Number.isFinite(speed))) return speed;
  throw new PigeonholeError("invalid_option", `${option} must be a speed above 0, such as 10, got ${speed}.`);
}

interface SendOnceInput {
  capture: Capture;
  target: string;
  content: BuiltBody;
  headers: HeaderList;
  options: ResolvedReplay;
  /** The lookup of the check. */
  lookUp: LookupFunction;
  nowMs: number;
}

async function sendOnce({ capture, target, content, headers, options, lookUp, nowMs }: SendOnceInput) {
  const { mode, timeoutMs, signal, ca, allowRemote, insecure } = options;
  const answer = await sendRequest({
    url: target,
    method: capture.request.method,
    headers,
    body: content.body,
    keepHost: options.headers.some(([name]) => name.toLowerCase() === "host"),
    allowRemote,
    lookUp,
    insecure,
    maxAnswerBytes: MAX_ANSWER_BYTES,
    timeoutMs,
    signal,
    ca,
  });
  const attempt: Omit<CaptureAttempt, "n"> = {
    kind: "replay",
    mode,
    target,
    at: new Date(nowMs).toISOString(),
    eventId: content.eventId,
    sentHeaders: answer.sentHeaders,
    sentBody: content.changed,
    status: answer.status,
    headers: answer.headers,
    body: encodeAnswerBody(answer.headers, answer.body),
    ms: answer.ms,
    error: answer.error,
  };
  return { attempt, failure: answer.failure };
}

async function waitUnlessAborted(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    await sleep(clock, ms, signal);
    return true;
  } catch {
    return false;
  }
}
