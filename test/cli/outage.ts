import Database from "better-sqlite3";
import { createSandbox, type Sandbox } from "pigeonhole/sandbox";
import { expect, onTestFinished } from "vitest";
import { HOUR } from "#pigeonhole/base/duration.js";
import { tempFile } from "../support/receiver.js";
import { findFreePort, type ReceiverProcess, startReceiver } from "../support/receiver-process.js";
import { jsonLines } from "../support/run-cli.js";
import { startCli } from "../support/start-cli.js";
import { waitUntil } from "../support/wait-until.js";

/** How long the outage takes on the service's clock. */
const OUTAGE_MS = 48 * HOUR;

/** An emulated service whose endpoint leads to a receiver in a process of its own. */
export interface Outage {
  sandbox: Sandbox;
  receiver: ReceiverProcess;
  file: string;
  endpointId: string;
  /** The begin of the outage, ISO 8601. */
  since: string;
  /** Ids of all events. */
  ids: string[];
}

/**
 * Two days in which a proxy answers 404 in place of the receiver, until the service has switched the endpoint off: to 4
 * of 5 deliveries until the last 100, and to those.
 */
export async function beginOutage(events: number): Promise<Outage> {
  const sandbox = createSandbox({ clock: "manual", receiverTime: "machine", seed: 17 });
  onTestFinished(() => sandbox.close());
  const [file, port] = [tempFile(), await findFreePort()];
  const { id, secret } = sandbox.endpoints.create({ url: `http://127.0.0.1:${port}/hooks` });
  const receiver = startReceiver({ file, port, secret, handlers: { effects: { kind: "commit" } } });
  onTestFinished(() => receiver.signal("SIGKILL"));
  expect(await receiver.line("ready")).toBeDefined();
  await sandbox.advance("1m");
  const since = new Date(sandbox.clock.now()).toISOString();
  const ids: string[] = [];
  const emit = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index += 1) {
      ids.push(sandbox.emit("email.bounced").event.id);
      await sandbox.settle();
      await sandbox.advance(Math.floor(OUTAGE_MS / events));
    }
  };
  const fault = { kind: "status", status: 404 } as const;
  sandbox.faults.deliveries.add({ fault, probability: 0.8 });
  await emit(events - 101);
  sandbox.faults.clear();
  await emit(1);
  sandbox.faults.deliveries.add({ fault });
  await emit(events - ids.length);
  sandbox.faults.clear();
  expect(sandbox.endpoints.get(id)).toMatchObject({ enabled: false, consecutiveFailures: 100 });
  await sandbox.listen();
  return { sandbox, receiver, file, endpointId: id, since, ids };
}

/** The command's result, or undefined if it was killed after so many replays. */
export async function runRepair(outage: Outage, killAfter?: number): Promise<Record<string, unknown> | undefined> {
  const { sandbox, file, endpointId, since } = outage;
  const before = replays(sandbox);
  const child = startCli(["endpoints", "repair", endpointId, "--since", since, "--enable", "--db", file, "--json"], {
    env: { PIGEONHOLE_BASE_URL: sandbox.baseUrl, PIGEONHOLE_API_KEY: sandbox.apiKey },
  });
  if (killAfter !== undefined) {
    await waitUntil("some replays", 20_000, () => replays(sandbox) - before >= killAfter);
    child.signal("SIGKILL");
  }
  const result = await child.ended;
  if (killAfter !== undefined) return undefined;
  expect(result).toMatchObject({ code: 0, stderr: "" });
  return jsonLines(result)[0]?.["repair"] as Record<string, unknown>;
}

function replays(sandbox: Sandbox): number {
  return sandbox.deliveries({ kind: "replay" }).length;
}

/** The effect of each event, as often as it was had, once all handlers have ended. */
export async function effectsOf({ file, ids }: Outage): Promise<string[]> {
  const db = new Database(file, { readonly: true });
  onTestFinished(() => void db.close());
  const select = db.prepare<[], string>("SELECT event_id FROM effect ORDER BY event_id").pluck();
  await waitUntil("every event has an effect", 20_000, () => new Set(select.all()).size >= ids.length);
  return select.all();
}
