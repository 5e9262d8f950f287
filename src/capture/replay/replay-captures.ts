import { randomInt } from "node:crypto";
import type { LookupFunction } from "node:net";
import { type Clock, waitingClock } from "../../base/clock.js";
import { PigeonholeError } from "../../base/error.js";
import { checkWholeNumber } from "../../base/option-check.js";
import { sleep } from "../../base/wait.js";
import {
  buildReplayBody,
  buildReplayHeaders,
  checkReplayContent,
  type BuiltBody,
  type ReplayContent,
} from "./build-replay.js";
import type { Capture, CaptureAttempt, Expectation, HeaderList } from "../model/capture.js";
import { checkExpectation, checkExpectationText } from "../model/check-expectation.js";
import { type AnswerComparison, compareAnswers } from "./compare-answers.js";
import { encodeAnswerBody } from "../model/encode-body.js";
import { createLocalLookUp } from "../send/local-address.js";
import { overrideHeaders } from "../send/outgoing-headers.js";
import { MAX_SEED, type ReplayOrder } from "./order-captures.js";
import { type ReplayJob, scheduleReplay } from "./replay-schedule.js";
import { type SendFailure, sendRequest } from "../send/send-request.js";
import { checkLocalTarget, targetUrl } from "../send/target.js";

export interface ReplayOptions extends ReplayContent {
  captures: readonly Capture[];
  /** Target: a port, host:port/path or URL, several, or by capture. Without a path the captured one is used. */
  target: string | readonly string[] | ((capture: Capture) => readonly string[]);
  /** @default 'original', the order of arrival */
  order?: ReplayOrder;
  /** Seed of the shuffle. @default a random one, which the report names */
  seed?: number;
  /** Keeps the gaps between arrivals, sped up by this factor. @default no gaps */
  keepTiming?: number;
  /** Least time between two requests, in milliseconds. @default 0 */
  delayMs?: number;
  /** How often each capture is sent. @default 1 */
  times?: number;
  /** Requests at the same time. @default 1, or 50 with keepTiming */
  concurrency?: number;
  /** What every answer must be. @default nothing is expected */
  expect?: Expectation;
  /** Paths of JSON answers that may differ from the previous attempt. @default none */
  ignore?: readonly string[];
  /** Allows targets outside this machine and private networks. @default false */
  allowRemote?: boolean;
  /** Longest wait for an answer, in milliseconds. @default 30,000 */
  timeoutMs?: number;
  /** Does not check the certificate of an https target. @default false */
  insecure?: boolean;
  /** Certificates (PEM) to trust in addition to the machine's. @default none */
  ca?: string;
  /** Set on every request, in place of captured headers with the same names. @default none */
  headers?: HeaderList;
  /** When aborted, no request is started and running ones are aborted. */
  signal?: AbortSignal;
  /** Called after each answer, one at a time; a promise is awaited. */
  onAttempt?: (replayed: ReplayedAttempt) => void | Promise<void>;
  /** @default the machine's */
  clock?: Clock;
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

/**
 * Sends captures again. Unanswered requests and failed expectations are in the report. Rejects with `invalid_argument`,
 * `invalid_option` or `invalid_secret` before anything is sent if an option cannot be used.
 */
export async function replayCaptures(options: ReplayOptions): Promise<ReplayReport> {
  const { clock = waitingClock, signal, concurrency, keepTiming } = options;
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
    const content = buildReplayBody(capture, options);
    const sent = await sendOnce({ capture, target, content, options, lookUp, nowMs: clock.now() });
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
  options: ReplayOptions,
  lookUp: LookupFunction,
): Promise<{ jobs: ReplayJob[]; seed: number | null }> {
  const { captures, target, order = "original", keepTiming, mode } = options;
  checkReplayContent(options);
  checkExpectationText({ ...options.expect, ignore: [...(options.expect?.ignore ?? []), ...(options.ignore ?? [])] });
  const times = checkWholeNumber("times", options.times ?? 1, { min: 1, max: 1_000_000 });
  const delayMs = checkWholeNumber("delayMs", options.delayMs ?? 0, { min: 0 });
  const seed = checkWholeNumber("seed", options.seed ?? randomInt(MAX_SEED), { min: 0, max: MAX_SEED });
  checkWholeNumber("concurrency", options.concurrency ?? 1, { min: 1, max: 1000 });
  if (keepTiming !== undefined && !(keepTiming > 0 && Number.isFinite(keepTiming))) {
    throw new PigeonholeError("invalid_option", `keepTiming must be a speed above 0, such as 10, got ${keepTiming}.`);
  }
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
  if (options.allowRemote !== true) {
    const origins = new Set(jobs.map((job) => new URL(job.target).origin));
    await Promise.all([...origins].map((origin) => checkLocalTarget(origin, lookUp)));
  }
  return { jobs, seed: order === "shuffle" ? seed : null };
}

interface SendOnceInput {
  capture: Capture;
  target: string;
  content: BuiltBody;
  options: ReplayOptions;
  /** The lookup of the check. */
  lookUp: LookupFunction;
  nowMs: number;
}

async function sendOnce({ capture, target, content, options, lookUp, nowMs }: SendOnceInput) {
  const { mode = "resign", timeoutMs, signal, ca, allowRemote = false, insecure = false, headers = [] } = options;
  const answer = await sendRequest({
    url: target,
    method: capture.request.method,
    headers: overrideHeaders(buildReplayHeaders(capture, content.body, { ...options, nowMs }), headers),
    body: content.body,
    keepHost: headers.some(([name]) => name.toLowerCase() === "host"),
    allowRemote,
    lookUp,
    insecure,
    maxAnswerBytes: MAX_ANSWER_BYTES,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(signal === undefined ? {} : { signal }),
    ...(ca === undefined ? {} : { ca }),
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
