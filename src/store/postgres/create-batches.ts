import { PigeonholeError } from "../../base/error.js";
import { NaturalBatch } from "../natural-batch.js";
import type { OtherEnd } from "../queries/ending-work.js";
import type { AcceptResult, NewEvent, SettleResult } from "../store.js";
import type { ProcessSession } from "./process-session.js";
import { compareEvents, storeEvents, storeInstead } from "./operations/store-events.js";
import { type KeyRequest, holdKeys } from "./operations/keys.js";
import { type SettleOutcome, settleDone, settleOthers } from "./operations/settle.js";
import type { DoneSettlement } from "../work.js";
import type { OwnConnection } from "./own-connection.js";

/** Larger batches gain little, and all calls in them wait longer. */
const MAX_ITEMS = 256;
const MAX_BYTES = 8 * 1024 * 1024;

const bytesOf = ({ body }: NewEvent): number => body.byteLength;
const EVENTS = { maxItems: MAX_ITEMS, maxBytes: MAX_BYTES, bytesOf };
const SETTLEMENTS = { maxItems: MAX_ITEMS, maxBytes: MAX_BYTES, bytesOf: () => 0 };

/** The calls of an open store that share statements with those that arrive meanwhile. */
export interface Batches {
  accept(event: NewEvent): Promise<AcceptResult>;
  settle(settlement: DoneSettlement | OtherEnd): Promise<SettleResult>;
  holdKey(request: KeyRequest): Promise<boolean>;
}

export interface BatchConnections {
  accepting: OwnConnection;
  working: OwnConnection;
  session: ProcessSession;
}

export function createBatches({ accepting, working, session }: BatchConnections): Batches {
  return { accept: createAccept(accepting, session), settle: createSettle(working), holdKey: createHoldKey(working) };
}

type Deliveries = NaturalBatch<NewEvent, AcceptResult>;

interface OtherBody {
  event: NewEvent;
  first: number;
}

/**
 * Stores events, each with the others that arrive meanwhile. Those whose id is known are compared in a batch of their
 * own: where that fails, the others are stored all the same, and their leases are known.
 */
function createAccept(connection: OwnConnection, session: ProcessSession): Batches["accept"] {
  const news: Deliveries = new NaturalBatch(EVENTS, async (events) => {
    const stored = await session.lease(connection, "storing events", (sql, holder) => storeEvents(sql, holder, events));
    return events.map((event, index) => stored[index] ?? knowns.add(event));
  });
  const knowns: Deliveries = new NaturalBatch(EVENTS, async (events) => {
    const comparisons = await connection.run("comparing events", (sql) => compareEvents(sql, events));
    return events.map((event, index) => {
      const comparison = comparisons[index] ?? { kind: "gone" };
      if (comparison.kind === "same") return { kind: "duplicate", otherBytes: false };
      return comparison.kind === "gone" ? news.add(event) : others.add({ event, first: comparison.first });
    });
  });
  // Rare, and each in a transaction of its own.
  const others = new NaturalBatch<OtherBody, AcceptResult>({ ...SETTLEMENTS, maxItems: 1 }, async (bodies) => {
    const results: (AcceptResult | Promise<AcceptResult>)[] = [];
    for (const other of bodies) {
      const stored = await session.lease(connection, "storing events", (sql, holder) =>
        storeInstead(sql, holder, other),
      );
      results.push(stored ?? news.add(other.event));
    }
    return results;
  });
  return (event) => news.add(event);
}

/** Settles work, each piece with the others that end meanwhile. One whose row is locked is refused alone. */
function createSettle(connection: OwnConnection): Batches["settle"] {
  const done = new NaturalBatch<DoneSettlement, SettleResult>(SETTLEMENTS, async (settlements) =>
    (await connection.run("settling work", (sql) => settleDone(sql, settlements))).map(resultOf),
  );
  const others = new NaturalBatch<OtherEnd, SettleResult>(SETTLEMENTS, async (settlements) =>
    (await connection.run("settling work", (sql) => settleOthers(sql, settlements))).map(resultOf),
  );
  return (settlement) => (settlement.to === "done" ? done.add(settlement) : others.add(settlement));
}

/** Gives keys to leased work, each with the others that are asked for meanwhile. */
function createHoldKey(connection: OwnConnection): Batches["holdKey"] {
  const requests = new NaturalBatch<KeyRequest, boolean>(SETTLEMENTS, (keys) =>
    connection.run("taking a key", (sql) => holdKeys(sql, keys)),
  );
  return (request) => requests.add(request);
}

function resultOf(outcome: SettleOutcome): SettleResult | Promise<SettleResult> {
  if (outcome !== "locked") return outcome;
  return Promise.reject(
    new PigeonholeError("store_busy", "settling work failed: another transaction holds the work. It is tried again."),
  );
}
