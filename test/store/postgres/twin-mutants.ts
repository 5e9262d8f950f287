import type { PackageChange } from "../../simulation/package-copy.js";
import type { PostgresMutant } from "./mutants.js";

const ROOM = "store/postgres";
const ACCEPT = `${ROOM}/operations/store-events.js`;
const SETTLE = `${ROOM}/operations/settle.js`;
const RECOVER = `${ROOM}/operations/recover.js`;
const REPLAN = "store/queries/replan.js";
const PRUNE = "store/queries/prune.js";
const BATCHES = `${ROOM}/create-batches.js`;
const SCHEMA = `${ROOM}/migrations.js`;

const change = (file: string, from: string, to: string): PackageChange => ({ file, from, to });

const MARKS = "each settlement of a batch leaves a mark, of every handler";

const ENDED = "SELECT place FROM done`";
const ENDS =
  "FROM held JOIN given AS g USING (place) WHERE w.seq = held.seq AND w.handler = held.handler RETURNING g.place";
const endsOnly = (held: string): string => ENDS.replace("FROM held", `FROM (SELECT * FROM held ${held}) AS held`);
const REMOVE_MARKS = '"DELETE FROM pigeonhole.inbox_work WHERE seq = ANY(:seqs)"';
const EXPIRED = "lease_until < :expiredBefore OR process IN (SELECT id FROM gone)";
const STORE = 'session.lease(connection, "storing events", (sql, holder) => storeEvents(sql, holder, events))';
const SETTLE_BATCHED = 'settlement.to === "done" ? done.add(settlement) : others.add(settlement)';

/** Mistakes of the SQLite store's mutants, made in what is their place on PostgreSQL. */
export const TWIN_MUTANTS: readonly PostgresMutant[] = [
  {
    name: "answers an event before it is stored",
    changes: [
      change(
        BATCHES,
        `const stored = await ${STORE};`,
        `const storing = ${STORE};
        storing.catch(() => undefined);
        const stored = events.some(({ work }) => work.some(({ leaseUntil }) => leaseUntil !== undefined))
            ? await storing
            : events.map(() => ({ kind: "stored", seq: 0, leases: [], otherBytes: false }));`,
      ),
    ],
  },
  {
    name: "answers a settlement before it is written",
    changes: [
      change(
        BATCHES,
        `return (settlement) => (${SETTLE_BATCHED});`,
        `return (settlement) => {
        (${SETTLE_BATCHED}).catch(() => undefined);
        return Promise.resolve("settled");
    };`,
      ),
    ],
  },
  {
    name: "knows duplicates in the memory of its process only",
    changes: [
      change("store/tables.js", "NOT NULL UNIQUE,\n    type ", "NOT NULL,\n    type "),
      change(ACCEPT, "ON CONFLICT (id) DO NOTHING", "ON CONFLICT DO NOTHING"),
      change(
        ACCEPT,
        "export async function storeEvents(",
        "const seen = new Set();\nexport async function storeEvents(",
      ),
      change(
        ACCEPT,
        "if (!firsts.has(id))",
        `const mine = holder.node + " " + id;
        if (seen.has(mine))
            continue;
        seen.add(mine);
        if (!firsts.has(id))`,
      ),
    ],
  },
  {
    name: "loses all marks of a batch but one",
    shownBy: MARKS,
    changes: [change(SETTLE, ENDS, endsOnly("LIMIT 1")), change(SETTLE, ENDED, "SELECT place FROM held`")],
  },
  {
    name: "loses the marks of all handlers but one",
    shownBy: MARKS,
    changes: [
      change(SETTLE, ENDS, endsOnly("WHERE handler = (SELECT min(handler) FROM held)")),
      change(SETTLE, ENDED, "SELECT place FROM held`"),
    ],
  },
  {
    name: "leaves the work that ctx.commit has done",
    changes: [change(SCHEMA, 'SET ${ended("ended_at")} WHERE ctid', "SET error = NULL WHERE ctid")],
  },
  {
    name: "takes another handler's mark for its own",
    changes: [
      change(
        REPLAN,
        "VALUES (:seq, :handler, 'pending', :now::bigint, 0, 0)",
        `SELECT :seq::bigint, :handler::text, 'pending', :now::bigint, 0, 0
         WHERE NOT EXISTS (SELECT 1 FROM pigeonhole.inbox_work AS d WHERE d.seq = :seq AND d.state = 'done')`,
      ),
    ],
  },
  {
    name: "plans what is done once more",
    changes: [change(REPLAN, "WHERE w.discarded OR", "WHERE w.state = 'done' OR")],
  },
  {
    name: "uses a number again when its event was dropped",
    changes: [
      change(
        ACCEPT,
        "SELECT nextval('pigeonhole.inbox_event_number') AS seq",
        "SELECT (SELECT coalesce(max(seq), 0) FROM pigeonhole.inbox_event) + g.place AS seq",
      ),
    ],
  },
  {
    name: "keeps a high-water mark over the numbers of events",
    changes: [
      change(
        `${ROOM}/operations/lease.js`,
        "AND w.due_at <= :now",
        "AND w.due_at <= :now AND w.seq > (SELECT coalesce(max(seq), 0) FROM pigeonhole.inbox_work WHERE state = 'done')",
      ),
    ],
  },
  {
    name: "lets leases never end",
    changes: [change(RECOVER, EXPIRED, "lease_until < 0 OR process IN (SELECT id FROM gone)")],
  },
  {
    name: "ends all leases at each look",
    changes: [change(RECOVER, EXPIRED, "lease_until < :expiredBefore OR node > 0")],
  },
  {
    name: "gives work again under the token of its last lease",
    shownBy: "nothing is written under a lease that was lost",
    changes: [change(`${ROOM}/lease-token.js`, "randomInt(1, 2 ** 48 - 1)", "randomInt(1, 2)")],
  },
  {
    name: "counts no death",
    changes: [
      change(
        RECOVER,
        "error = CASE WHEN is_looping THEN :error ELSE error END,",
        "error = CASE WHEN is_looping THEN :error ELSE error END, finished = w.started,",
      ),
    ],
  },
  {
    name: "forgets a dead process that has work still",
    shownBy: "work of a dead process that is locked at the moment is recovered later",
    changes: [
      change(
        RECOVER,
        "AND NOT EXISTS (SELECT 1 FROM pigeonhole.inbox_work AS w WHERE w.state = 'leased' AND w.process = n.id)",
        "",
      ),
    ],
  },
  {
    name: "drops events that have work",
    changes: [change(PRUNE, "w.seq = r.seq AND w.state <> 'done'", "false")],
  },
  {
    name: "drops the marks of events that stay",
    changes: [change(PRUNE, REMOVE_MARKS, REMOVE_MARKS.replace("seq =", "seq <="))],
  },
  {
    name: "drops the marks of one handler only",
    changes: [
      change(
        PRUNE,
        REMOVE_MARKS,
        '"DELETE FROM pigeonhole.inbox_work WHERE seq = ANY(:seqs) AND handler = (SELECT min(handler) FROM pigeonhole.inbox_work)"',
      ),
    ],
  },
];
