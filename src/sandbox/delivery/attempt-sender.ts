import type { Changes } from "../../base/options.js";
import { SECOND } from "../../base/duration.js";
import { errorMessage, errorName } from "../../base/error-text.js";
import { untilAborted } from "../../base/wait.js";
import type { SignatureAssumptions } from "../../protocol/signature-assumptions.js";
import { LIMITS } from "../../protocol/limits.js";
import { signDelivery } from "../../protocol/sign-delivery.js";
import type { SandboxTime } from "../clock/sandbox-time.js";
import { type TargetGuard, resolveTarget } from "./resolve-target.js";
import type { DeliveryFault } from "./delivery-faults.js";
import type { ScheduledDelivery } from "./scheduled-delivery.js";
import type { ReceiverAnswer } from "./verdict-of-answer.js";
import type { SendPost } from "./send-over-http.js";

export interface AttemptSenderOptions {
  time: SandboxTime;
  post: SendPost;
  /** Overrides for points about the signature that the service's documentation leaves open. */
  signature: Changes<SignatureAssumptions> | undefined;
  /** Undefined allows every target, and resolves none. */
  guard: TargetGuard | undefined;
}

/** Signs an attempt and sends it, waiting 5 s for the answer. */
export class AttemptSender {
  readonly #options: AttemptSenderOptions;
  readonly #onTheirWay = new Set<AbortController>();

  constructor(options: AttemptSenderOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async send(delivery: ScheduledDelivery, fault: DeliveryFault | undefined): Promise<ReceiverAnswer> {
    switch (fault?.kind) {
      case "drop":
        return { kind: "none", error: "no answer: dropped on the way" };
      case "status":
        return answeredByFault(fault);
      case "lose_answer": {
        const answer = await this.#post(delivery);
        return answer.kind === "none" ? answer : { kind: "none", error: "no answer: lost on the way" };
      }
      case "duplicate": {
        const first = this.#post(delivery);
        const copies = Array.from({ length: fault.copies ?? 1 }, () => this.#post(delivery));
        await Promise.all(copies);
        return first;
      }
      case undefined:
      case "delay":
      case "reorder":
        return this.#post(delivery);
    }
  }

  /** Aborts running attempts. */
  abortAll(): void {
    for (const controller of this.#onTheirWay) controller.abort(new Error("broken off"));
  }

  async #post(delivery: ScheduledDelivery): Promise<ReceiverAnswer> {
    const controller = new AbortController();
    const { signal } = controller;
    this.#onTheirWay.add(controller);
    const { network } = this.#options.time;
    const timeout = network.setTimer(() => controller.abort(new Error(NO_ANSWER)), LIMITS.deliveryTimeoutMs);
    try {
      return await this.#signAndPost(delivery, signal);
    } catch (error) {
      return { kind: "none", error: signal.aborted ? errorMessage(signal.reason) : `not sent: ${errorName(error)}` };
    } finally {
      timeout.cancel();
      this.#onTheirWay.delete(controller);
    }
  }

  async #signAndPost({ endpoint, body }: ScheduledDelivery, signal: AbortSignal): Promise<ReceiverAnswer> {
    const { time, signature, guard, post } = this.#options;
    const { url } = endpoint;
    // The 5 s include the DNS lookup.
    const target = guard && (await untilAborted(resolveTarget(url, guard), signal));
    if (target?.ok === false) return { kind: "none", error: target.error };
    // Signed for each attempt with the current secret: after a rotation the old one is not used.
    const signed = signDelivery({
      body,
      secret: endpoint.secret,
      timestamp: time.receiver.now(),
      assumptions: signature,
    });
    const headers = { "content-type": "application/json", "user-agent": "pigeonhole-sandbox", ...signed };
    return post({ url, headers, body, addresses: target?.addresses }, signal);
  }
}

function answeredByFault({ status, retryAfter }: Extract<DeliveryFault, { kind: "status" }>): ReceiverAnswer {
  return { kind: "answered", status, retryAfter: retryAfter ?? null, outcome: null, contentType: null };
}

const NO_ANSWER = `no answer within ${LIMITS.deliveryTimeoutMs / SECOND} s`;
