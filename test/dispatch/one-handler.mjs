import { writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { RetryAfter, createReceiver, createSqliteStore } from "pigeonhole";
import { createPostgresStore } from "pigeonhole/postgres";
import { TEST_SECRET, signDelivery } from "pigeonhole/testing";
import { pino } from "pino";

// A receiver in a process of its own that delivers events to its one handler. It reports by JSON lines.

/** @type {{ kind: string; place: { file: string } | { url: string; schema: string }; events: { id: string }[] }} */
const { kind, place, events, ...options } = JSON.parse(process.argv[2] ?? "{}");
const report = (line) => writeSync(1, `${JSON.stringify(line)}\n`);

const makeTable = ({ db, client }) => {
  const sql = (table) => `CREATE TABLE IF NOT EXISTS ${table} (event TEXT NOT NULL)`;
  return db === undefined ? client.query(sql("public.effect")) : db.exec(sql("effect"));
};
const setup = kind === "batch" ? makeTable : undefined;
const store =
  "file" in place
    ? createSqliteStore({ file: place.file, setup })
    : createPostgresStore({ connectionString: place.url, schema: place.schema, setup });
const receiver = createReceiver({ secrets: TEST_SECRET, store, logger: pino({ level: "silent" }), telemetry: false });

async function write({ db, client }, batch) {
  for (const { id } of batch) {
    if (db === undefined) await client.query("INSERT INTO public.effect VALUES ($1)", [id]);
    else db.prepare("INSERT INTO effect VALUES (?)").run(id);
  }
}

const KINDS = {
  /** Dies in the transaction of each batch that has a certain event, and ends once nothing is left to do. */
  batch({ deadly }) {
    const run = (batch, ctx) => {
      report({ msg: "batch", ids: batch.map(({ id }) => id) });
      const die = () => batch.some(({ id }) => id === deadly) && process.kill(process.pid, "SIGKILL");
      return ctx.commit((tx) => {
        const written = write(tx, batch);
        return tx.db === undefined ? written.then(die) : void die();
      });
    };
    // The first process gets a full batch, however long its events take to come.
    const isFirst = events.length > 0;
    receiver.onBatch("email.sent", run, isFirst ? { max: events.length, wait: "30s" } : { max: 100, wait: "200ms" });
    return async () => {
      for (let left = 1; left > 0; await sleep(20)) {
        const { pending, running, retrying } = await receiver.stats();
        left = pending + running + retrying;
      }
      await receiver.stop();
      process.exit();
    };
  },
  /** Reports when each run begins. */
  rate({ rate }) {
    const run = () => report({ msg: "begun", at: performance.timeOrigin + performance.now() });
    receiver.on("email.sent", run, { rate });
  },
  /** Reports what the handler runs on, and that it is held. */
  wait({ isBusy }) {
    const run = ({ id }) => {
      report({ msg: `ran ${id}` });
      if (isBusy) throw new RetryAfter("busy", 3_600_000, { holds: "handler" });
    };
    receiver.on("email.sent", run, { name: "crm" });
    return async () => {
      while ((await receiver.stats()).waitsFor["crm"] !== "retry_after") await sleep(5);
      report({ msg: "held" });
    };
  },
};

const goOn = KINDS[kind](options);
await receiver.start();
for (const event of events) {
  const body = JSON.stringify(event);
  const headers = signDelivery({ body, secret: TEST_SECRET });
  await receiver.fetch(new Request("http://localhost/", { method: "POST", body, headers }));
}
await goOn?.();
// Nothing of the receiver keeps a process alive.
setInterval(() => undefined, 60_000);
