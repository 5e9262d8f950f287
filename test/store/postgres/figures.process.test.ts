import { isoTime } from "#pigeonhole/base/iso-time.js";
import { Pool, type PoolClient } from "pg";
import { expect, onTestFinished, test } from "vitest";
import type { Store } from "#pigeonhole/store/store.js";
import { NO_FIGURES } from "#pigeonhole/store/figure-rows.js";
import { describeOnPostgres } from "../../support/postgres-server.js";
import { makeGate } from "../../support/receiver.js";
import { MINUTE } from "../conformance/new-event.js";
import { openStore } from "./store-on.js";
import { readFigures } from "../../support/operate.js";

/** Begin of a step of every length. */
const STEP = 1_800_000_000_000;
const SECOND = 1_000;
const accepted = (count: number) => ({ ...NO_FIGURES, answers: { accepted: count } });

/** A pool whose clients stand still, once they have a lock among processes, until the end of the test. */
function poolThatStops(url: string) {
  const [locked, goesOn] = [makeGate(), makeGate()];
  let isArmed = false;
  const pool = new Pool({ connectionString: url });
  onTestFinished(() => pool.end());
  onTestFinished(() => goesOn.open());
  pool.on("error", () => undefined);
  pool.on("connect", (client: PoolClient) => {
    const query = client.query.bind(client) as (given: { text: string }) => Promise<unknown>;
    let stands = false;
    const stopping = async (given: { text: string }): Promise<unknown> => {
      if (stands) await goesOn.passed;
      const result = await query(given);
      if (!isArmed || !given.text.includes("pg_advisory_xact_lock")) return result;
      stands = true;
      locked.open();
      return result;
    };
    Object.assign(client, { query: stopping });
  });
  return { pool, locked: locked.passed, arm: () => (isArmed = true), goOn: () => goesOn.open() };
}

describeOnPostgres((database) => {
  async function openFigures() {
    const store = await openStore(database);
    const write = (process: string, at: number): Promise<void> =>
      store.writeFigures({ process, now: STEP + at, figures: accepted(1), status: undefined });
    return { store, write };
  }

  const acceptedAt = async (store: Store<unknown>, at: number): Promise<number | null | undefined> => {
    const { times, answers } = await readFigures(store, { range: "1h", now: STEP + 30 * MINUTE });
    return answers.accepted?.[times.indexOf(isoTime(STEP + at))];
  };

  test("a process that stands still while it writes does not stop the figures of the others", async () => {
    const { store, write } = await openFigures();
    const { pool, locked, arm, goOn } = poolThatStops(database.url);
    const other = await openStore(database, pool);
    const writeOther = (at: number): Promise<void> =>
      other.writeFigures({ process: "stands", now: STEP + at, figures: accepted(1), status: undefined });
    for (const at of [0, 10]) await write("p1", at * SECOND);
    await writeOther(0);
    arm();
    const standing = writeOther(10 * SECOND).catch((error: unknown) => error);
    await locked;
    await write("p1", 20 * SECOND);
    expect(await acceptedAt(store, 0)).toBe(2);
    expect(await acceptedAt(store, 10 * SECOND)).toBe(1);
    goOn();
    // Its transaction has ended, and what it wrote goes with its next write.
    expect(await standing).toBeInstanceOf(Error);
  });
});
