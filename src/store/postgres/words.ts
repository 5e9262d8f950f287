import type { OutboxWords } from "../queries/contact-events.js";
import type { WaitingWords } from "../queries/waiting-work.js";

const inState = (state: string) => (conditions: string) => `state = '${state}' AND ${conditions}`;

export const SERVER_WORDS: OutboxWords & WaitingWords = {
  waits: "state = 'pending' AND NOT waits_for_key",
  inState: { pending: inState("pending"), leased: inState("leased"), done: inState("done"), dead: inState("dead") },
  name: "name",
  again: "pending",
};
