import type { PackageChange } from "../../simulation/package-copy.js";
import type { PostgresMutant } from "./mutants.js";

const ROOM = "store/postgres/operations";
const EMPTY = `${ROOM}/empty-slots.js`;

const change = (file: string, from: string, to: string): PackageChange => ({ file, from, to });

const WANTED = "a slot is emptied without the bodies that are wanted, and the others stay";
const ENDED = "a slot is emptied when all its bodies have ended, and never while new bodies go there";

/** Mistakes that could be made where the slots of bodies are emptied. */
export const SLOT_MUTANTS: readonly PostgresMutant[] = [
  {
    name: "keeps no body of unsettled work",
    shownBy: WANTED,
    changes: [change(EMPTY, "ORDER BY w.seq LIMIT :batch", "ORDER BY w.seq LIMIT 0 * :batch")],
  },
  {
    name: "empties all slots at once",
    shownBy: WANTED,
    changes: [change(EMPTY, "TRUNCATE TABLE ONLY ${bodiesIn(slot)}", "TRUNCATE TABLE pigeonhole.inbox_body CASCADE")],
  },
  {
    name: "stores bodies in a slot that is not the current one any more",
    shownBy: WANTED,
    changes: [
      change(`${ROOM}/store-events.js`, "`WHERE ${CURRENT_SLOT} = ${slot}`", '""'),
      change(`${ROOM}/store-events.js`, "WHERE ${CURRENT_SLOT} <> ${slot})`", "WHERE false)`"),
    ],
  },
  {
    name: "takes a slot for ended a moment too early",
    shownBy: ENDED,
    changes: [change(EMPTY, "WHERE ended < :before", "WHERE ended <= :before")],
  },
  {
    name: "compares the age of a slot the wrong way",
    shownBy: ENDED,
    changes: [change(EMPTY, "WHERE ended < :before", "WHERE ended > :before")],
  },
  {
    name: "leaves no time for what was being stored as the next slot was opened",
    shownBy: ENDED,
    changes: [change(EMPTY, "bodiesBefore - STORED_WITHIN_MS", "bodiesBefore")],
  },
  {
    name: "empties the slot in which new bodies are stored",
    shownBy: ENDED,
    changes: [
      change(
        EMPTY,
        "lead(opened_at) OVER (ORDER BY opened) AS ended",
        "coalesce(lead(opened_at) OVER (ORDER BY opened), opened_at) AS ended",
      ),
    ],
  },
  {
    name: "moves bodies without locking their events",
    shownBy: "a body that is erased while it is moved is gone",
    changes: [change(EMPTY, "await sql.run(LOCK_EVENTS, { seqs });", "")],
  },
  {
    name: "does not see that a slot was opened again",
    shownBy: "a slot that another process has emptied and opened again stays open",
    changes: [change(EMPTY, "WHERE slot = :slot AND clear_at = :clearAt", "WHERE slot = :slot")],
  },
  {
    name: "empties a slot outside of the transaction that has locked it",
    shownBy: "work that is planned while a slot is emptied is not left without its body",
    changes: [
      change(
        EMPTY,
        "return sql.transaction(async () => {\n        await sql.script(`${UNDER_LOCK}",
        "return Promise.resolve().then(async () => {\n        await sql.script(`${UNDER_LOCK}",
      ),
    ],
  },
  {
    name: "looks for unsettled work before the slot is locked only",
    shownBy: "work that is planned before a slot is locked keeps its body",
    changes: [change(EMPTY, "{ after: 0, batch: 1 }", "{ after: 0, batch: 0 }")],
  },
  {
    name: "takes a slot for clear since before a body was moved",
    shownBy: "a body that is moved later is found by transactions from before, too",
    changes: [change(EMPTY, "SET clear_at = NULL WHERE slot", "SET clear_at = clear_at WHERE slot")],
  },
  {
    name: "empties a slot of which a transaction sees an earlier state",
    shownBy: "a transaction that sees an earlier state finds the bodies that were wanted then",
    changes: [change(EMPTY, "found.clearAt + CLEAR_FOR_MS > now", "false")],
  },
  {
    name: "waits for the lock of a slot without a limit",
    shownBy: "a slot that is read is left after a moment",
    changes: [change(EMPTY, "SET LOCAL lock_timeout = '50ms'", "SET LOCAL lock_timeout = 0")],
  },
];
