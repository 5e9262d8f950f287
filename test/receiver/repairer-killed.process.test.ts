import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { openSandbox } from "../sandbox/support.js";
import { makeFolder } from "../support/folder.js";

const SCRIPT = fileURLToPath(new URL("repairing-process.mjs", import.meta.url));

/** A receiver on a file that is killed, and the service whose deliveries it gets where `takes` says so. */
async function openApp() {
  const file = join(makeFolder(), "inbox.db");
  let child: ChildProcess | undefined;
  let port: Promise<unknown> = Promise.resolve();
  const app = { takes: (): boolean => true };
  const sandbox = openSandbox({
    receiverTime: "sandbox",
    receive: async ({ headers, body }) =>
      app.takes()
        ? fetch(`http://127.0.0.1:${Number(await port)}/`, { method: "POST", headers, body, duplex: "half" })
        : new Response(null, { status: 404 }),
  });
  const { url: baseUrl } = await sandbox.listen();
  const { id: endpointId, secret } = sandbox.endpoints.create({ url: "http://127.0.0.1/hook" });
  const { apiKey } = sandbox.clientOptions;
  const read = <Row>(sql: string): Row[] => {
    const db = new Database(file, { readonly: true });
    const rows = db.prepare<[], Row>(sql).all();
    db.close();
    return rows;
  };
  return Object.assign(app, {
    sandbox,
    /** Begins a life, and with it a round. */
    start(): void {
      const config = JSON.stringify({ file, secret, apiKey, baseUrl, endpointId, at: sandbox.clock.now() });
      const started = spawn(process.execPath, [SCRIPT, config], { stdio: ["ignore", "pipe", "ignore"] });
      onTestFinished(() => void started.kill("SIGKILL"));
      port = once(started.stdout, "data");
      child = started;
    },
    kill: (): void => void child?.kill("SIGKILL"),
    hasDied: (): boolean => child?.signalCode === "SIGKILL",
    stored: () => read<{ id: string }>("SELECT id FROM inbox_event").map(({ id }) => id),
    replayed: () => sandbox.deliveries({ kind: "replay" }).map(({ eventId }) => eventId),
    /** Waits for the end of a round that begins after now. */
    async untilRound() {
      const select = "SELECT missing, replayed, still_missing AS stillMissing, refused FROM inbox_repair";
      const ended = () => read(`${select} WHERE ended_at >= ${sandbox.clock.now()}`);
      await port;
      await expect.poll(ended).toHaveLength(1);
      return ended()[0];
    },
  });
}

test("a process that is killed in a round leaves the rest to a later one, which replays nothing that is there", async () => {
  const app = await openApp();
  const { sandbox } = app;
  app.start();
  expect(await app.untilRound()).toMatchObject({ missing: 0 });
  app.kill();
  app.takes = () => false;
  await sandbox.advance("5m");
  const lost = Array.from({ length: 3 }, () => sandbox.emit("email.bounced").event.id);
  await sandbox.advance("20m");
  // The first replay arrives; at the second one the process dies.
  let attempts = 0;
  app.takes = () => {
    attempts += 1;
    if (attempts === 2) app.kill();
    return attempts === 1;
  };
  app.start();
  await expect.poll(app.hasDied).toBe(true);
  const there = app.stored();
  expect(there).toHaveLength(1);
  const [second = ""] = app.replayed().filter((id) => !there.includes(id));

  app.takes = () => true;
  await sandbox.advance("1h");
  app.start();
  expect(await app.untilRound()).toEqual({ missing: 2, replayed: 2, stillMissing: 0, refused: null });
  expect(app.stored().toSorted()).toEqual(lost.toSorted());
  expect(app.replayed().toSorted()).toEqual([...lost, second].toSorted());
});
