import type { OutboxWords } from "../queries/contact-events.js";
import type { WaitingWords } from "../queries/waiting-work.js";

/** Events that no call has taken yet. Events that were sent before cost nothing here. */
export const IS_NEW = "seq > (SELECT value FROM counter WHERE name = 'outbox_taken') AND state = 'pending'";

/** Found through the open calls, which are few; a query by state alone would read all rows. */
export const IS_LEASED = "send IN (SELECT send FROM outbox_send WHERE state <> 'dead') AND state = 'leased'";

/**
 * Events that came back from a call are pending, as new ones are: the newest of both are read, so that the cost does
 * not exceed one page.
 */
export const FILE_WORDS: OutboxWords & WaitingWords = {
  waits: "state = 'pending'",
  inState: {
    pending: (conditions) => `seq IN (
      SELECT seq FROM outbox_event WHERE state = 'again' AND ${conditions}
      UNION ALL SELECT seq FROM outbox_event WHERE ${IS_NEW} AND ${conditions}
      ORDER BY seq DESC LIMIT :most)`,
    leased: (conditions) => `seq IN (SELECT seq FROM outbox_event WHERE ${IS_LEASED}) AND ${conditions}`,
    done: (conditions) => `state = 'done' AND ${conditions}`,
    dead: (conditions) => `state = 'dead' AND ${conditions}`,
  },
  name: "body ->> '$.name'",
  again: "again",
};
