import { createServer, type Server } from "node:http";
import express from "express";
import {
  type CommitTransaction,
  type Logger,
  type Receiver,
  type Store,
  createReceiver,
  createSqliteStore,
} from "pigeonhole";
import { createDashboard } from "pigeonhole/dashboard";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { DASHBOARD_PATH, EVENT_TYPE, HANDLER_NAME, HOOK_PATH, SECRET } from "../sample-delivery.js";
import type { ContestantContext, RunningContestant, StartContestant } from "./contestant.js";

/** An error would spoil a measurement. */
const quietLogger: Logger = {
  ...silentLogger,
  error: (fields, message) => void process.stderr.write(`${message} ${JSON.stringify(fields)}\n`),
  child: () => quietLogger,
};

/** Registers handlers; each calls `onHandled` when it ends well. */
type Register = (receiver: Receiver, onHandled: () => void) => void;

const registerOne: Register = (receiver, onHandled) => {
  receiver.on(EVENT_TYPE, onHandled, { name: HANDLER_NAME });
};

/** Rows of the user's own are inserted in the transaction that marks the events done. */
const insertAll = ({ db }: CommitTransaction, events: readonly { id: string; type: string }[]): void => {
  const insert = db.prepare("INSERT INTO own_row (id, type) VALUES (?, ?)");
  for (const { id, type } of events) insert.run(id, type);
};

const registerCommit: Register = (receiver, onHandled) => {
  const name = HANDLER_NAME;
  receiver.on(EVENT_TYPE, (event, ctx) => ctx.commit((tx) => insertAll(tx, [event])).then(onHandled), { name });
};

const registerBatch: Register = (receiver, onHandled) => {
  receiver.onBatch(
    EVENT_TYPE,
    async (events, ctx) => {
      await ctx.commit((tx) => insertAll(tx, events));
      for (const _ of events) onHandled();
    },
    { name: HANDLER_NAME, max: 100, wait: "500ms" },
  );
};

async function startContestant(
  { databaseFile, store = createSqliteStore({ file: databaseFile }) }: ContestantContext & { store?: Store },
  register: Register,
  createHttpServer: (receiver: Receiver) => Server,
): Promise<RunningContestant> {
  let handled = 0;
  const receiver = createReceiver({
    secrets: SECRET,
    store,
    logger: quietLogger,
    telemetry: false,
  });
  register(receiver, () => {
    handled += 1;
  });
  await receiver.start();
  return {
    server: createHttpServer(receiver),
    countHandled: () => handled,
    countSettled: async () => (await receiver.stats()).done,
    stop: () => receiver.stop(),
  };
}

function createFrontServer(receiver: Receiver): Server {
  return createServer(receiver.listener({ path: HOOK_PATH, next: express() }));
}

function createRouteServer(receiver: Receiver): Server {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.post(HOOK_PATH, receiver.middleware());
  return createServer(app);
}

/** An ordinary Express route. */
export const startRoute: StartContestant = (context) => startContestant(context, registerOne, createRouteServer);

/** A listener that answers the hook path and hands all else to Express. */
export const startFront: StartContestant = (context) => startContestant(context, registerOne, createFrontServer);

const withTable = ({ databaseFile }: ContestantContext) => ({
  databaseFile,
  store: createSqliteStore({
    file: databaseFile,
    setup: ({ db }) => db.exec("CREATE TABLE IF NOT EXISTS own_row (id TEXT NOT NULL, type TEXT NOT NULL) STRICT"),
  }),
});

/** The same with a row of the user's own for each event. */
export const startCommit: StartContestant = (context) =>
  startContestant(withTable(context), registerCommit, createFrontServer);

/** The same rows, 100 in a transaction. */
export const startBatch: StartContestant = (context) =>
  startContestant(withTable(context), registerBatch, createFrontServer);

/** The same with a dashboard in the app behind it. */
export const startWithDashboard: StartContestant = (context) =>
  startContestant(context, registerOne, (receiver) => {
    const dashboard = createDashboard(receiver, { allow: () => ({ role: "operate", name: "bench" }) });
    return createServer(receiver.listener({ path: HOOK_PATH, next: express().use(DASHBOARD_PATH, dashboard) }));
  });

/** The same on PostgreSQL; its handlers do not call `ctx.commit`, whose type alone tells the stores apart. */
export const startFrontPostgres: StartContestant = async (context) => {
  const { createPostgresStore } = await import("pigeonhole/postgres");
  const connectionString = process.env["BENCH_POSTGRES_URL"];
  if (connectionString === undefined) throw new Error("this contestant runs only at --only postgres");
  const store = createPostgresStore({ connectionString }) as Store<unknown> as Store;
  return startContestant({ ...context, store }, registerOne, createFrontServer);
};

/** The same without a handler: deliveries are stored, and that is all. */
export const startAcceptOnly: StartContestant = (context) => startContestant(context, () => {}, createFrontServer);
