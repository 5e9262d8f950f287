import { createSqliteStore, type HandlerContext } from "pigeonhole";
import { signDelivery } from "pigeonhole/protocol";
import Database from "better-sqlite3";
import { quietLogger } from "../contestants/quiet-logger.js";
import { BODY_BYTES, createBodyTemplate, createdAtOf, HOOK_PATH, SECRET } from "../sample-delivery.js";
import { median } from "../stats.js";
import { randomUUID } from "node:crypto";
import { serveCalls } from "./child-calls.js";
import { openRecordingReceiver, recordEvent, type RecordingReceiver } from "./recording-receiver.js";

/** How the handler ends: by returning, or with a write of its own in `ctx.commit`. */
export type Way = "return" | "commit";

/** Median microseconds from the call of the handler to its durable end. */
export interface LatencyTimes {
  plain: number;
  recording: number;
}

interface Turn {
  way: Way;
  records: boolean;
  startedAt: number;
  end(): void;
}

const WARM_UP = 2_000;

let receiver: RecordingReceiver | undefined;
let turn: Turn | undefined;

const template = createBodyTemplate(BODY_BYTES);

/** The store as it is, telling when a handler's end is on disk. */
function createTellingStore(file: string) {
  const real = createSqliteStore({ file });
  const tell = <T>(value: T): T => {
    turn?.end();
    return value;
  };
  const store: typeof real = {
    ...real,
    settle: (settlement) => real.settle(settlement).then(tell),
    commit: (settlement, fn) => real.commit(settlement, fn).then(tell),
  };
  return store;
}

async function handle(eventId: string, ctx: HandlerContext): Promise<void> {
  if (turn === undefined) return;
  turn.startedAt = performance.now();
  if (turn.records) recordEvent(eventId, ctx);
  if (turn.way === "commit") {
    await ctx.commit(({ db }) => void db.prepare("INSERT INTO effect (event) VALUES (?)").run(eventId));
  }
}

/** One delivery, alone in the process; microseconds from the call of its handler to its durable end. */
async function takeOne(way: Way, records: boolean): Promise<number> {
  const body = Buffer.from(template.body);
  body.write(randomUUID(), template.idOffset, "latin1");
  body.write(createdAtOf(Date.now(), 0), template.timeOffset, "latin1");
  let endedAt = 0;
  let current: Turn | undefined;
  const ended = new Promise<void>((resolve) => {
    const end = (): void => {
      endedAt = performance.now();
      resolve();
    };
    current = turn = { way, records, startedAt: 0, end };
  });
  const headers = { ...signDelivery({ body, secret: SECRET }), "content-type": "application/json" };
  const request = new Request(`http://127.0.0.1${HOOK_PATH}`, { method: "POST", body, headers });
  const response = await receiver?.fetch(request);
  if (response?.status !== 200) throw new Error(`the delivery was answered ${response?.status}`);
  await ended;
  return (endedAt - (current?.startedAt ?? Number.NaN)) * 1000;
}

const calls = {
  async open({ file }: { file: string }): Promise<void> {
    const store = createTellingStore(file);
    await store.open({ logger: quietLogger });
    const db = new Database(file);
    db.exec("CREATE TABLE effect (event TEXT NOT NULL)");
    db.close();
    receiver = openRecordingReceiver(store, handle);
    await receiver.start();
    for (let index = 0; index < WARM_UP; index += 1)
      await takeOne(index % 4 < 2 ? "return" : "commit", index % 2 === 1);
  },
  /** `count` deliveries of each kind, one after the other, with and without in turn. */
  async measure({ way, count }: { way: Way; count: number }): Promise<LatencyTimes> {
    const [plain, recording]: [number[], number[]] = [[], []];
    for (let index = 0; index < count; index += 1) {
      for (const records of index % 2 === 0 ? [false, true] : [true, false]) {
        (records ? recording : plain).push(await takeOne(way, records));
      }
    }
    return { plain: median(plain), recording: median(recording) };
  },
  async stop(): Promise<void> {
    await receiver?.stop();
  },
};

export type LatencyCalls = typeof calls;

serveCalls(calls);
