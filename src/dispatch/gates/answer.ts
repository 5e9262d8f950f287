import type { Gate, GatedWork } from "../gate.js";

/**
 * The delivery of the event is not answered yet: a handler that blocks its thread must not delay that. A mount writes
 * the answers of all events of a commit in the turn of the event loop in which the store has taken them.
 */
export class AnswerGate implements Gate {
  readonly name = "answer";
  readonly keeps = "work";
  readonly #unanswered = new Set<string>();

  allows({ eventId = "" }: GatedWork): boolean {
    return !this.#unanswered.has(eventId);
  }

  /** The event is being stored, and its work may be leased before that is known here. */
  shut(eventId: string): void {
    this.#unanswered.add(eventId);
  }

  /** The store has taken it, or has failed. Of the same event twice at once, the answer that is first counts. */
  open(eventId: string, then: () => void): void {
    setImmediate(() => {
      if (this.#unanswered.delete(eventId)) then();
    });
  }
}
