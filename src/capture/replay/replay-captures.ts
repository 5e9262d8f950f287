import type { LookupFunction } from "node:net";
import { type Clock, waitingClock } from "../../base/clock.js";
import { PigeonholeError } from "../../base/error.js";
import type { Capture, CaptureAttempt, HeaderList } from "../model/capture.js";
import { byTime } from "../folder/load-folder.js";
import { encodeAnswerBody } from "../model/encode-body.js";
import { createLocalLookUp } from "../send/local-address.js";
import { overrideHeaders } from "../send/outgoing-headers.js";
import { type SendFailure, sendRequest } from "../send/send-request.js";
import { checkLocalTarget, targetUrl } from "../send/target.js";
import { answerHead } from "../model/answer.js";
import { bodyJson, bodyText } from "../model/captured-body.js";
import { compareJson, type JsonDifference } from "../json/compare-json.js";
import {
  buildReplayBody,
  buildReplayHeaders,
  checkReplayContent,
  type BuiltBody,
  type ReplayContent,
} from "./build-replay.js";

export interface ReplayOptions extends ReplayContent {
  /** The captures to send. */
  captures: readonly Capture[];
  /** Target: a port, host:port/path or URL, several, or by capture. Without a path the captured one is used. */
  target: string | readonly string[] | ((capture: Capture) => readonly string[]);
  /** How often each capture is sent. @default 1 */
  times?: number | undefined;
  /** Allows targets outside this machine and private networks. @default false */
  allowRemote?: boolean | undefined;
  /** Longest wait for an answer, in milliseconds; after 5 s it counts as none. @default 5,000 */
  timeoutMs?: number | undefined;
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
  answered: number;
  unanswered: number;
  /** Answers that differ from the previous attempt. */
  changed: number;
  aborted: boolean;
}

const MAX_ANSWER_BYTES = 1024 * 1024;

/**
 * Sends captures again. Unanswered requests are in the report. Rejects with `invalid_argument` or `invalid_secret`
 * before anything is sent if an option cannot be used.
 */
export async function replayCaptures(options: ReplayOptions): Promise<ReplayReport> {
  checkReplayContent(options);
  const { clock = waitingClock, signal } = options;
  const lookUp = createLocalLookUp();
  const jobs = await plan(options, lookUp);
  const attempts: ReplayedAttempt[] = [];
  const history = new Map<string, CaptureAttempt[]>();

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
      comparison: before === undefined ? null : compareAnswers(before, attempt),
      notes: content.notes,
      failure: sent.failure,
    };
  }

  for (const job of jobs) {
    if (signal?.aborted === true) break;
    const replayed = await send(job);
    attempts.push(replayed);
    await options.onAttempt?.(replayed);
  }
  const answered = attempts.filter(({ attempt }) => attempt.status !== null).length;
  return {
    attempts,
    planned: jobs.length,
    answered,
    unanswered: attempts.length - answered,
    changed: attempts.filter(({ comparison }) => comparison?.same === false).length,
    aborted: signal?.aborted === true,
  };
}

/** One planned request. */
interface ReplayJob {
  capture: Capture;
  target: string;
}

/** All captures in the order of their arrival, so often as wanted. */
async function plan(options: ReplayOptions, lookUp: LookupFunction): Promise<ReplayJob[]> {
  const { captures, target, times = 1, mode } = options;
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
  const round = captures
    .toSorted(byTime)
    .flatMap((capture) => targetsOf(capture).map((url): ReplayJob => ({ capture, target: url })));
  const jobs = Array.from({ length: times }, () => round).flat();
  if (options.allowRemote !== true) {
    const origins = new Set(jobs.map((job) => new URL(job.target).origin));
    await Promise.all([...origins].map((origin) => checkLocalTarget(origin, lookUp)));
  }
  return jobs;
}

interface SendOnceInput extends ReplayJob {
  content: BuiltBody;
  options: ReplayOptions;
  /** The lookup of the check. */
  lookUp: LookupFunction;
  nowMs: number;
}

async function sendOnce({ capture, target, content, options, lookUp, nowMs }: SendOnceInput) {
  const { mode = "resign", timeoutMs, signal, allowRemote, headers: own = [] } = options;
  const answer = await sendRequest({
    url: target,
    method: capture.request.method,
    headers: overrideHeaders(buildReplayHeaders(capture, content.body, { ...options, nowMs }), own),
    body: content.body,
    keepHost: own.some(([name]) => name.toLowerCase() === "host"),
    allowRemote,
    lookUp,
    maxAnswerBytes: MAX_ANSWER_BYTES,
    timeoutMs,
    signal,
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

/** How two answers of an app differ. */
interface AnswerComparison {
  same: boolean;
  /** Null if it is the same. A status of null means no answer. */
  status: { before: number | null; after: number | null } | null;
  /** Null if it is the same. An outcome of null means that the answer does not say. */
  outcome: { before: string | null; after: string | null } | null;
  /** Differences of the bodies if both are JSON. */
  json: JsonDifference[];
  /** Whether the bodies differ, if they are not both JSON. */
  bodyChanged: boolean;
}

type AttemptAnswer = Pick<CaptureAttempt, "status" | "headers" | "body">;

/**
 * Compares status, outcome and body, JSON by structure. Other headers are not compared, since they differ in every
 * answer.
 */
function compareAnswers(before: AttemptAnswer, after: AttemptAnswer): AnswerComparison {
  const status = before.status === after.status ? null : { before: before.status, after: after.status };
  const [was, is] = [answerHead(before).outcome, answerHead(after).outcome];
  const outcome = was === is ? null : { before: was, after: is };
  const [a, b] = [readJson(before), readJson(after)];
  const json = a.ok && b.ok ? compareJson(a.value, b.value) : [];
  const bodyChanged = !(a.ok && b.ok) && bodyForComparison(before) !== bodyForComparison(after);
  const same = status === null && outcome === null && json.length === 0 && !bodyChanged;
  return { same, status, outcome, json, bodyChanged };
}

function readJson({ body }: AttemptAnswer): ReturnType<typeof bodyJson> {
  return body === null ? { ok: false } : bodyJson(body);
}

function bodyForComparison({ body }: AttemptAnswer): string {
  return body === null ? "" : (bodyText(body) ?? `base64,${body.data}`);
}
