import type { PackageChange } from "../../simulation/package-copy.js";
import type { PostgresMutant } from "./mutants.js";

const ROOM = "store/postgres/operations";
const SLOTS = `${ROOM}/body-slots.js`;
const EMPTY = `${ROOM}/empty-slots.js`;

const change = (file: string, from: string, to: string): PackageChange => ({ file, from, to });

const WANTED = "a slot is emptied without the bodies that are wanted, and the others stay";
const NEWEST = "a slot is emptied when its newest body has ended, and never while new bodies go there";
const LATER = "bodies that are wanted only after they were checked are moved too";

const HAS_WORK =
  "UNION SELECT seq FROM pigeonhole.inbox_work WHERE seq = ANY(ARRAY(SELECT seq FROM page)) AND state <> 'done'";

/** Mistakes that could be made where the slots of bodies are emptied. */
export const SLOT_MUTANTS: readonly PostgresMutant[] = [
  {
    name: "moves no body out of its slot",
    shownBy: WANTED,
    changes: [change(EMPTY, "await moveOut(sql, emptying.slot, page.wanted, limits.batch);", "")],
  },
  {
    name: "keeps no body of unsettled work",
    shownBy: WANTED,
    changes: [change(EMPTY, HAS_WORK, ""), change(EMPTY, "LIMIT :batch) AS wanted`", "LIMIT 0 * :batch) AS wanted`")],
  },
  {
    name: "takes a body for ended a moment too early",
    shownBy: WANTED,
    changes: [change(EMPTY, "received_at >= :before", "received_at > :before")],
  },
  {
    name: "keeps a slot for a body that was received ahead of the clock",
    shownBy: WANTED,
    changes: [change(EMPTY, "newest === undefined || newest.receivedAt > now", "newest === undefined")],
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
    shownBy: NEWEST,
    changes: [change(EMPTY, "newest.receivedAt < bodiesBefore", "newest.receivedAt <= bodiesBefore")],
  },
  {
    name: "compares the age of a slot the wrong way",
    shownBy: NEWEST,
    changes: [change(EMPTY, "newest.receivedAt < bodiesBefore", "newest.receivedAt > bodiesBefore")],
  },
  {
    name: "empties the slot in which new bodies are stored",
    shownBy: NEWEST,
    changes: [change(SLOTS, "closed.pop()?.slot", "closed.at(-1)?.slot")],
  },
  {
    name: "moves bodies without locking their events",
    shownBy: "a body that is erased while it is moved is gone",
    changes: [change(EMPTY, "await sql.run(LOCK_EVENTS, asked);", "")],
  },
  {
    name: "does not see that a slot was opened again",
    shownBy: "a slot that another process has emptied and opened again stays open",
    changes: [change(EMPTY, "WHERE slot = :slot AND opened = :opened)", "WHERE slot = :slot)")],
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
    shownBy: LATER,
    changes: [change(EMPTY, "LIMIT :batch) AS wanted`", "LIMIT 0 * :batch) AS wanted`")],
  },
  {
    name: "does not check bodies that came after the check",
    shownBy: LATER,
    changes: [change(EMPTY, "WHERE seq > :through)", "WHERE seq > :through AND false)")],
  },
  {
    name: "does not check the body that came next after the check",
    shownBy: LATER,
    changes: [change(EMPTY, "WHERE seq > :through)", "WHERE seq > :through + 1)")],
  },
  {
    name: "does not wait for deliveries that are being stored in a slot",
    shownBy: "a body that was being stored when a slot was checked is moved too",
    changes: [change(EMPTY, "LOCK TABLE ONLY ${bodiesIn(slot)} IN SHARE MODE", "SELECT 1")],
  },
  {
    name: "empties a slot of which a transaction sees an earlier state",
    shownBy: "a transaction that sees an earlier state finds the bodies that were wanted then",
    changes: [change(EMPTY, "(await isSeenFromBefore(sql, clearSince))", "false")],
  },
  {
    name: "waits for the lock of a slot without a limit",
    shownBy: "a slot that is read is left after a moment",
    changes: [change(EMPTY, "SET LOCAL lock_timeout = '50ms'", "SET LOCAL lock_timeout = 0")],
  },
];
