import type { Changes } from "../../base/options.js";
import type { Clock } from "../../base/clock.js";
import { CUT_TAG, HELD_TAG, type Capture, type CaptureSource, type HeaderList } from "../../capture/model/capture.js";
import { type ReceivedRequest, captureRequest } from "../../capture/model/capture-request.js";
import { encodeBody } from "../../capture/model/encode-body.js";
import { MAX_BYTES_TO_EXPLAIN, type NamedSecret } from "../../capture/model/judge-signature.js";
import { isConnectionHeader } from "../../capture/send/outgoing-headers.js";
import type { SendResult } from "../../capture/send/send-request.js";
import { summarizeCapture } from "../../capture/model/summarize-capture.js";
import type { SignatureAssumptions } from "../../protocol/signature-assumptions.js";
import { TARGET_HEADER } from "./target-header.js";
import type { ForwardRule } from "./forward-rules.js";
import type { DevDeliveryEvent, Report } from "../lines/dev-event.js";
import type { TypeMatcher } from "../../protocol/event-pattern.js";
import type { CaptureLog } from "./capture-log.js";
import type { AppSender } from "./app-sender.js";
import { createHeldDelivery, isDelivered } from "./deliver-held.js";
import { isHeld } from "./held-tag.js";
import { HeldQueue } from "./held-queue.js";

/** The answer to the sender of a delivery. */
export interface SenderAnswer {
  status: number;
  headers: HeaderList;
  body: Uint8Array;
}

/** An incoming delivery. */
export interface ArrivedDelivery {
  request: ReceivedRequest;
  source: CaptureSource;
  from: string;
}

export type ReceiveDelivery = (arrived: ArrivedDelivery) => Promise<SenderAnswer & { captureId: string }>;

/** The answer while the app is down: 503, or 202 with the delivery kept until the app is back. */
export type WhenDown = "503" | "hold";

export interface ForwarderOptions {
  log: CaptureLog;
  appSender: AppSender;
  rules: readonly ForwardRule[];
  /** Types that are forwarded. */
  isWanted: TypeMatcher;
  secrets: () => readonly NamedSecret[];
  assumptions: Changes<SignatureAssumptions>;
  whenDown: WhenDown;
  /** Most deliveries that are held at once; above it the sender receives 503. */
  maxHeld: number;
  clock: Clock;
  report: Report;
}

/** Seconds after which the service may try again while the app is down. */
const RETRY_AFTER = "5";

/** `unstored`: not on disk as it came. */
type Kept = "stored" | "unstored";

/** Longest body of a stranger on disk; that of a longer one was not looked into either. */
const MAX_FOREIGN_BYTES = MAX_BYTES_TO_EXPLAIN;

/**
 * The only path from a received delivery to its answer: capture it, store it, then forward or hold it. A
 * delivery is answered 2xx only by the app, or once it is on disk here.
 */
export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #held: HeldQueue<Capture>;

  constructor(options: ForwarderOptions) {
    this.#options = options;
    this.#held = new HeldQueue({
      clock: options.clock,
      deliver: createHeldDelivery(options),
    });
  }

  /** Deliveries that wait for an app. */
  get held(): number {
    return this.#held.size;
  }

  readonly receive: ReceiveDelivery = async ({ request, source, from }) => {
    const { log, clock, assumptions, secrets } = this.#options;
    const receivedAt = clock.now();
    const capture = captureRequest({ request, receivedAt, source, secrets: secrets(), assumptions });
    const isCut = request.body.byteLength > MAX_FOREIGN_BYTES && isForeign(capture, secrets());
    const { body, tags } = isCut
      ? { body: encodeBody(request.body.subarray(0, MAX_FOREIGN_BYTES)), tags: [CUT_TAG] }
      : { body: { ...capture.request.body }, tags: [] };
    // The app receives the body of this one; the folder reads that of its own from the disk.
    const isStored = await log.keep({ ...capture, tags, request: { ...capture.request, body } });
    const kept: Kept = isStored && !isCut ? "stored" : "unstored";
    return { ...(await this.#decide(capture, kept, from)), captureId: capture.id };
  };

  /** Queues the held deliveries of an earlier run, oldest first, and tries the apps at once. */
  queueHeld(): void {
    for (const capture of this.#options.log.folder.list().toReversed()) this.#queueHeld(capture);
    this.#held.tryNow();
  }

  /**
   * Removes from the queue what another process in this folder has delivered, and queues what it holds: it may end
   * before its app is back.
   */
  changedElsewhere(capture: Capture): void {
    this.#held.remove(({ id }, target) => id === capture.id && isDelivered(capture, target));
    this.#queueHeld(capture);
  }

  #queueHeld(capture: Capture): void {
    const rule = isHeld(capture) ? this.#ruleFor(capture) : undefined;
    const isInLine = this.#held.has(({ id }) => id === capture.id);
    if (rule !== undefined && !isInLine && !isDelivered(capture, rule.target)) this.#held.add(capture, rule.target);
  }

  /** Deleted captures are no longer delivered. */
  forget(ids: readonly string[]): void {
    const gone = new Set(ids);
    this.#held.remove(({ id }) => gone.has(id));
  }

  close(): void {
    this.#held.close();
  }

  /** Resolves once no held delivery is being sent and the results of the last ones are written. */
  idle(): Promise<void> {
    return this.#held.idle();
  }

  /** The forward for a capture; undefined if none matches. */
  #ruleFor({ event }: Capture): ForwardRule | undefined {
    if (!this.#options.isWanted(event.type)) return undefined;
    return this.#options.rules.find(({ matches }) => matches(event.type));
  }

  async #decide(capture: Capture, kept: Kept, from: string): Promise<SenderAnswer> {
    const { report } = this.#options;
    const fields = (answer: SenderAnswer, now = capture): DevDeliveryEvent => ({
      capture: summarizeCapture(now),
      verdict: capture.verify,
      answer: answer.status,
      from,
    });
    const rule = this.#ruleFor(capture);
    if (rule === undefined) {
      const answer = keptAnswer(capture, kept);
      report({ kind: "received", ...fields(answer) });
      return answer;
    }
    if (this.#held.waitsFor(rule.target)) {
      const { answer, capture: now } = await this.#hold(capture, rule.target, kept);
      report({ kind: "held", why: "queued", error: null, ...fields(answer, now) });
      return answer;
    }
    return this.#forward({ capture, rule, kept, fields });
  }

  async #forward(input: {
    capture: Capture;
    rule: ForwardRule;
    kept: Kept;
    fields: (answer: SenderAnswer, now: Capture) => DevDeliveryEvent;
  }): Promise<SenderAnswer> {
    const { capture, rule, kept, fields } = input;
    const { appSender, log, report, whenDown } = this.#options;
    const { sent, made } = await appSender.send(capture, rule.target, { kind: "forward", mode: "exact" });
    const { capture: tried, attempt } = await log.addAttempt(capture, made);
    if (sent.failure === null) {
      const answer = appAnswer(sent, capture.source === "trigger" ? [[TARGET_HEADER, made.target]] : []);
      report({ kind: "forwarded", attempt, ...fields(answer, tried) });
      return answer;
    }
    if (whenDown === "503") {
      const answer = later("The app did not answer.");
      report({ kind: "app_down", attempt, ...fields(answer, tried) });
      return answer;
    }
    const { answer, capture: now } = await this.#hold(tried, rule.target, kept);
    report({ kind: "held", why: "app_down", error: sent.error, ...fields(answer, now) });
    return answer;
  }

  async #hold(capture: Capture, target: string, kept: Kept): Promise<{ answer: SenderAnswer; capture: Capture }> {
    if (kept === "unstored" || this.#held.size >= this.#options.maxHeld) {
      return { answer: later("No more deliveries can be held."), capture };
    }
    // Queued before anything is awaited, so that the order is that of arrival.
    this.#held.add(this.#options.log.folder.get(capture.id) ?? capture, target);
    const marked = await this.#options.log.change(capture.id, (current) => ({
      ...current,
      tags: [...new Set([...current.tags, HELD_TAG])],
    }));
    if (marked !== undefined && isHeld(marked)) return { answer: keptAnswer(capture, kept), capture: marked };
    // It was deleted meanwhile, or the mark could not be written: a later run would not know of it.
    this.forget([capture.id]);
    return { answer: later("The delivery could not be held."), capture };
  }
}

function appAnswer({ status, headers, body }: SendResult, own: HeaderList): SenderAnswer {
  const kept = headers.filter(([name]) => !isConnectionHeader(name));
  return { status: status ?? 502, headers: [...kept, ...own], body };
}

/** 202: accepted and stored, not handled. */
function keptAnswer(capture: Capture, kept: Kept): SenderAnswer {
  if (kept === "unstored") return later("The delivery could not be written to disk as it came.");
  return { status: 202, headers: [["X-Pigeonhole-Capture", capture.id]], body: new Uint8Array() };
}

function later(why: string): SenderAnswer {
  return {
    status: 503,
    headers: [
      ["Content-Type", "text/plain; charset=utf-8"],
      ["Retry-After", RETRY_AFTER],
    ],
    body: Buffer.from(`${why}\n`),
  };
}

/** Anyone can send it: no secret has made its signature, as far as that can be said here. */
function isForeign({ verify: { code } }: Capture, secrets: readonly NamedSecret[]): boolean {
  return code === "missing" || code === "malformed" || (code === "mismatch" && secrets.length > 0);
}
