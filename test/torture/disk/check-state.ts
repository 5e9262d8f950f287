import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { silentLogger } from "#pigeonhole/base/logger.js";
import Database from "better-sqlite3";
import { type EventDetail, type Receiver, type Store, createReceiver, createSqliteStore } from "pigeonhole";
import { signDelivery } from "pigeonhole/protocol";
import { type ContactEventMemory, createContactEventMemory } from "../../support/contact-event-service.js";
import { type TestEvent, bodyOf } from "../../support/service-sender.js";
import { COURIER, LEDGER, registerHandlers } from "../process/handlers.js";
import { MEMORY_DISK } from "../../support/memory-disk.js";
import { countEach } from "../../support/count-each.js";
import { SECRET } from "../process/start.js";
import type { Files } from "./disk.js";
import type { Mark } from "./log.js";
import { DATABASE } from "./record.js";
import { operate } from "../../support/operate.js";

/** Real time; many times what a state takes. */
const MAX_MS = 15_000;

/** A folder after a power cut, and what the rest of the world knows. */
export interface State {
  files: Files;
  events: readonly TestEvent[];
  /** Ids that were answered 200. */
  answered: ReadonlySet<string>;
  /** Calls that arrived at the API, in order. */
  calls: readonly (Mark & { what: "called" })[];
  /** Events that were answered and done may be gone. */
  mayBePruned: boolean;
}

export interface Checked {
  /** Empty when every promise was kept. */
  wrong: string[];
  /** Events that were answered and have been removed since. */
  pruned: number;
}

/** Starts the real package on the state, lets the service do its part, and says what is wrong in the end. */
export async function checkState(state: State): Promise<Checked> {
  const folder = mkdtempSync(join(MEMORY_DISK, "pigeonhole-state-"));
  const checked = new StateCheck(state, join(folder, DATABASE));
  try {
    for (const [name, bytes] of state.files) writeFileSync(join(folder, name), bytes);
    return checked.result(await checked.run());
  } catch (error) {
    return checked.result([`ended with ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`]);
  } finally {
    await checked.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

class StateCheck {
  #pruned = 0;
  readonly #state: State;
  readonly #file: string;
  readonly #store: Store;
  readonly #api: ContactEventMemory = createContactEventMemory();
  readonly #receiver: Receiver;
  #db: Database.Database | undefined;

  constructor(state: State, file: string) {
    this.#state = state;
    this.#file = file;
    this.#store = createSqliteStore({ file, thread: false });
    for (const { path, key, body } of state.calls) this.#api.route(path, key, body);
    this.#receiver = createReceiver({
      secrets: SECRET,
      store: this.#store,
      logger: silentLogger,
      telemetry: false,
      retry: { initialMs: 1 },
      api: {
        apiKey: "svc_test_torture",
        baseUrl: "http://localhost/v1",
        maxRetries: 0,
        eventsPerMinute: 600_000,
        fetch: (url, init) => this.#callApi(url, init),
      },
    });
    registerHandlers(this.#receiver);
  }

  async run(): Promise<string[]> {
    await this.#store.open({ logger: silentLogger });
    this.#db = new Database(this.#file);
    const integrity = String(this.#db.pragma("integrity_check", { simple: true }));
    if (integrity !== "ok") return [`integrity_check: ${integrity}`];
    const found = await this.#findWhatIsThere();
    if (found.length > 0) return found;
    await this.#receiver.start();
    await this.#deliverRest();
    return [...(await this.#comeToRest()), ...this.#findWhatIsThereInTheEnd()];
  }

  result(wrong: string[]): Checked {
    return { wrong, pruned: this.#pruned };
  }

  async close(): Promise<void> {
    this.#db?.close();
    await this.#receiver.stop({ timeoutMs: 0 }).catch(() => undefined);
    await this.#store.close().catch(() => undefined);
  }

  /** Before anything runs: answered ⇒ stored, and effect ⇔ done mark. */
  async #findWhatIsThere(): Promise<string[]> {
    const effects = this.#countEffects();
    const recorded = await this.#listRecorded();
    const wrong: string[] = [];
    for (const { id } of this.#state.events) {
      const event = await operate(this.#store).getEvent(id);
      const count = effects.get(id) ?? 0;
      if (event === undefined) {
        const isPruned = this.#state.mayBePruned && count === 1;
        if (isPruned) this.#pruned += 1;
        if (this.#state.answered.has(id) && !isPruned) wrong.push(`answered and lost: ${id}`);
        if (count > 0 && !isPruned) wrong.push(`an effect without its event: ${id}`);
        continue;
      }
      if (isDone(event, LEDGER) !== count > 0) wrong.push(`done ${isDone(event, LEDGER)}, ${count} effects: ${id}`);
      // Retention may have removed what was sent.
      const isMissing = isDone(event, COURIER) && !recorded.has(`${COURIER}.done ${id}`) && !this.#state.mayBePruned;
      if (isMissing) wrong.push(`done and not recorded: ${id}`);
      if (!isDone(event, COURIER) && recorded.has(`${COURIER}.done ${id}`)) wrong.push(`recorded and not done: ${id}`);
    }
    return wrong;
  }

  /** The service sends again whatever was not answered, and once more some of what was. */
  async #deliverRest(): Promise<void> {
    const { events, answered, mayBePruned } = this.#state;
    const effects = this.#countEffects();
    const again = events.filter(({ id }) => (mayBePruned ? !answered.has(id) && !effects.has(id) : true));
    await Promise.all(
      again.map(async (event) => {
        const body = Buffer.from(bodyOf(event));
        const headers = { ...signDelivery({ body, secret: SECRET }), "content-type": "application/json" };
        const request = new Request("http://receiver.test/hooks", { method: "POST", body, headers });
        const { status } = await this.#receiver.fetch(request);
        if (status !== 200) throw new Error(`${event.id} was answered ${status} after the restart.`);
      }),
    );
  }

  async #comeToRest(): Promise<string[]> {
    const endAt = Date.now() + MAX_MS;
    for (;;) {
      const { pending, retrying, running, parked, dead, outbox } = await this.#receiver.stats();
      if (parked > 0) await this.#receiver.inbox.retryAll({ state: "parked" });
      const send = outbox.pending + outbox.running + outbox.retrying;
      const left = { pending, retrying, running, parked, dead, send, sendDead: outbox.dead };
      if (Object.values(left).every((count) => count === 0)) return [];
      if (Date.now() > endAt || dead + outbox.dead > 0) return [`did not come to rest: ${JSON.stringify(left)}`];
      await setImmediate();
    }
  }

  /** After everything has run: one effect each, and each contact event stored once. */
  #findWhatIsThereInTheEnd(): string[] {
    const effects = this.#countEffects();
    const stored = countEach(
      this.#api.stored.map(({ event }) => `${event.name} ${String(event.properties?.["eventId"])}`),
    );
    return [
      ...this.#state.events.flatMap(({ id }) => {
        const counts = { effects: effects.get(id) ?? 0, ledger: stored.get(`${LEDGER}.done ${id}`) ?? 0 };
        const all = { ...counts, courier: stored.get(`${COURIER}.done ${id}`) ?? 0 };
        return Object.values(all).every((count) => count === 1) ? [] : [`not once each: ${id} ${JSON.stringify(all)}`];
      }),
      ...this.#api.refused.map((code) => `refused by the API: ${code}`),
    ];
  }

  #countEffects(): Map<string, number> {
    const db = this.#db;
    const hasTable = db?.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'effect'").get() !== undefined;
    return countEach(
      db !== undefined && hasTable ? db.prepare<[], string>("SELECT event_id FROM effect").pluck().all() : [],
    );
  }

  /** A play has fewer than a page of them. */
  async #listRecorded(): Promise<Set<string>> {
    const { items } = await operate(this.#store).listContactEvents({ limit: 500 });
    return new Set(
      items.map(({ body }) => {
        const { name, properties } = JSON.parse(body) as { name: string; properties: { eventId: string } };
        return `${name} ${properties.eventId}`;
      }),
    );
  }

  #callApi(url: string, init: { headers?: unknown; body?: unknown }): Promise<Response> {
    const key = new Headers(init.headers as Record<string, string>).get("idempotency-key") ?? "";
    const [status, result] = this.#api.route(new URL(url).pathname, key, String(init.body));
    return Promise.resolve(Response.json(result, { status }));
  }
}

function isDone({ handlers }: EventDetail, name: string): boolean {
  return handlers.some(({ handler, state }) => handler === name && state === "done");
}
