import { waitingClock } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { type Backoff, backoffDelay } from "../base/retry-wait.js";
import { sleep } from "../base/wait.js";
import type { Client } from "../client/call-types.js";
import { InvalidRequestError, NotFoundError } from "../client/errors.js";
import { retryWait } from "../client/retry.js";
import type { WebhookEndpoint } from "../contract/webhook-endpoint.js";
import { isRetryableStatus } from "../protocol/retry-schedule.js";
import type { MissingEvent } from "./repair-report.js";

/** What came of a replay: the endpoint is off, so that nothing was sent, or why the event may still be missing. */
export type Replayed = "off" | (Pick<MissingEvent, "reason"> & Partial<Pick<MissingEvent, "responseCode">>);

/** Tries to send an event to a receiver that is only busy. */
const TRIES = 3;
const BETWEEN_TRIES: Backoff = { initialMs: SECOND / 2, factor: 2, maxMs: 5 * SECOND, jitter: 0.1 };

/** Retries of a call to the API. */
const CALL_RETRIES = 5;

/** So many failed attempts in a row are no bad luck: the receiver does not take what it is sent. */
const MAX_FAILURES_IN_A_ROW = 5;

/**
 * Asks the service to deliver events again, one after the other. Failed replays count towards switching the endpoint
 * off, so that it ends before.
 */
export class EventReplayer {
  readonly #client: Pick<Client, "webhooks">;
  readonly #endpointId: string;
  readonly #signal: AbortSignal | undefined;
  readonly #maxFailures: number;
  #failuresInARow = 0;

  constructor(
    client: Pick<Client, "webhooks">,
    { id, consecutiveFailures }: Pick<WebhookEndpoint, "id" | "consecutiveFailures">,
    /** Failures in a row at the endpoint, of any delivery, that its replays may bring it to. */
    maxConsecutive: number,
    signal: AbortSignal | undefined,
  ) {
    this.#client = client;
    this.#endpointId = id;
    this.#signal = signal;
    this.#maxFailures = Math.min(MAX_FAILURES_IN_A_ROW, maxConsecutive - consecutiveFailures);
  }

  /** True when another failure would say nothing new, or would take the endpoint past its limit. */
  get isFailing(): boolean {
    return this.#failuresInARow >= this.#maxFailures;
  }

  /** Rejects as the API call does, when it fails for good. */
  async replay(rowId: string): Promise<Replayed> {
    for (let attempt = 1; ; attempt += 1) {
      const replayed = await this.#send(rowId);
      if (replayed === "off") return replayed;
      const { reason, responseCode = null } = replayed;
      if (reason === "not_arrived") this.#failuresInARow = 0;
      if (reason !== "failed") return replayed;
      this.#failuresInARow += 1;
      if (attempt === TRIES || this.isFailing || !isRetryableStatus(responseCode)) return replayed;
      await sleep(waitingClock, backoffDelay(BETWEEN_TRIES, attempt, Math.random), this.#signal);
    }
  }

  /** A call is repeated although it may have taken effect: the inbox takes an event once. */
  async #send(rowId: string): Promise<Replayed> {
    for (let retries = 0; ; retries += 1) {
      try {
        const { delivery } = await this.#client.webhooks.replay(this.#endpointId, rowId, { signal: this.#signal });
        // A status besides the two that are documented, such as one of a replay under way, is no failure.
        if (delivery?.status !== "failed") return { reason: "not_arrived" };
        return { reason: "failed", responseCode: delivery.responseCode };
      } catch (error) {
        if (error instanceof NotFoundError) return { reason: "gone" };
        if (error instanceof InvalidRequestError) return (await this.#isOff()) ? "off" : { reason: "refused" };
        const random = Math.random;
        const waitMs = retryWait({ error, retries, maxRetries: CALL_RETRIES, isRepeatable: true, random });
        if (waitMs === undefined) throw error;
        await sleep(waitingClock, waitMs, this.#signal);
      }
    }
  }

  async #isOff(): Promise<boolean> {
    const { enabled } = await this.#client.webhooks.get(this.#endpointId, { signal: this.#signal });
    return !enabled;
  }
}
