import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "pg";
import { type Sandbox, createSandbox } from "pigeonhole/sandbox";
import { findFreePort } from "../support/free-port.js";
import { countEach } from "../support/count-each.js";
import { type PostgresServer, startPostgres } from "../support/postgres-server.js";
import { ClusterProcess } from "./cluster-process.js";
import { readDataDirectory, restartAtOnce, stopAtOnce } from "./crash-server.js";
import { type TcpRelay, startRelay } from "./tcp-relay.js";

/** A minute of the service takes 60 ms. */
const SPEED = 1_000;
const SCHEMA = "pigeonhole";
const EFFECTS = "public.effects";
const NODES = 3;
const KILLED_WORK_MS = 600;
/** Some event must be done within this time, until all are: a lease that nobody knows of lasts a minute. */
const PROGRESS_MS = 75_000;

/** What is wrong in the end, and what shows that the trouble hit something. */
export interface ClusterResult {
  events: number;
  attempts: number;
  failedAttempts: number;
  /** Work that was taken over from a dead process. */
  recoveries: number;
  violations: string[];
}

/** Three receiver processes on one database, behind a balancer, between the emulated service and trouble. */
export class Cluster {
  readonly sandbox: Sandbox;
  readonly #random: () => number;
  readonly #ids: string[] = [];
  readonly #replayed = new Map<string, string>();
  readonly #processes: ClusterProcess[] = [];
  #server: PostgresServer | undefined;
  #dataDirectory = "";
  #relay: TcpRelay | undefined;
  #pool: Pool | undefined;
  #endpointId = "";
  #turn = 0;

  constructor({ seed, random }: { seed: number; random: () => number }) {
    this.#random = random;
    this.sandbox = createSandbox({
      seed: String(seed),
      clock: { speed: SPEED },
      limits: { eventsPerMinute: 600_000 },
      // A delivery whose endpoint goes off before the first attempt has a row, and can be replayed.
      assumptions: { retriesOfDisabled: "kept", eventsOfDisabled: "logged" },
      receive: (request) => this.#passOn(request),
    });
    // Half of the answers are lost; a later attempt gets through, as the eight of a day do.
    for (const attempt of [1, 2, 3]) {
      this.sandbox.faults.deliveries.add({ fault: { kind: "lose_answer" }, attempt, probability: 0.5 });
    }
    this.sandbox.faults.api.add({ fault: { kind: "no_answer", executed: true }, probability: 0.3 });
  }

  /** On a server of its own, or on the one given. */
  async begin(given?: PostgresServer): Promise<void> {
    this.#server = given ?? (await startPostgres({ wal_level: "replica" }));
    const { url } = this.#server;
    if (given === undefined) this.#dataDirectory = await readDataDirectory(url);
    this.#pool = new Pool({ connectionString: url });
    this.#pool.on("error", () => undefined);
    await this.#pool.query(`CREATE TABLE ${EFFECTS} (event text NOT NULL, pid integer NOT NULL)`);
    this.#relay = await startRelay(Number(new URL(url).port));
    const relayed = new URL(url);
    relayed.port = String(this.#relay.port);
    const { secret, id } = this.sandbox.endpoints.create({ url: "http://127.0.0.1/hooks" });
    this.#endpointId = id;
    const api = await this.sandbox.listen();
    const shared = { schema: SCHEMA, effects: EFFECTS, secret, apiUrl: api.url, apiKey: this.sandbox.apiKey };
    for (let index = 0; index < NODES; index += 1) {
      // The last one reaches the database through the relay.
      const databaseUrl = index === NODES - 1 ? relayed.href : url;
      this.#processes.push(new ClusterProcess({ ...shared, databaseUrl, port: await findFreePort() }));
    }
    await Promise.all(this.#processes.map((each) => each.start()));
  }

  /** Emits so many events at about that rate. */
  async emit(count: number, perSecond: number): Promise<void> {
    for (let left = count; left > 0;) {
      for (let burst = Math.min(left, 1 + Math.floor(this.#random() * 8)); burst > 0; burst -= 1, left -= 1) {
        this.#emitOne();
      }
      await sleep((4_500 * 2 * this.#random()) / perSecond);
    }
  }

  async killOne(): Promise<void> {
    // Each process has work that a kill meets in the middle.
    for (let index = 0; index < 2 * NODES; index += 1) this.#emitOne(KILLED_WORK_MS);
    await sleep(KILLED_WORK_MS / 3);
    const victim = this.#pickProcess();
    await victim.kill();
    await sleep(this.#random() * 500);
    await victim.start();
  }

  /** It sleeps, and all connections are lost: the others take over its work, and it wakes up in the middle of it. */
  async suspendOne(forMs: number): Promise<void> {
    const victim = this.#pickProcess();
    victim.signal("SIGSTOP");
    await this.#query(`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`);
    await sleep(forMs);
    victim.signal("SIGCONT");
  }

  async restartServer(): Promise<void> {
    await restartAtOnce(this.#dataDirectory);
  }

  /** One process sends to the database, and nothing arrives, nor comes back. */
  async cutOne(forMs: number): Promise<void> {
    this.#relay?.cut();
    await sleep(forMs);
    this.#relay?.join();
  }

  /** Ends all trouble, waits until everything is answered, and gives the events of which the database knows nothing. */
  async findLost(): Promise<string[]> {
    this.sandbox.faults.clear();
    for (const untilMs = Date.now() + PROGRESS_MS; this.#replayMissing() > 0; await sleep(100)) {
      this.#enable();
      if (Date.now() > untilMs) throw new Error("Some events are never answered.");
    }
    const stored = await this.#countById(`SELECT id FROM ${SCHEMA}.inbox_event`);
    return this.#ids.filter((id) => !stored.has(id));
  }

  /** Events that have taken effect twice, here or in the service. */
  async findRepeated(): Promise<string[]> {
    const effects = await this.#countById(`SELECT event AS id FROM ${EFFECTS}`);
    const sent = this.#countSent();
    return this.#ids.filter((id) => [effects, sent].some((counts) => (counts.get(id) ?? 0) > 1));
  }

  /** Pieces of work that dead processes still have, and processes whose work was taken over. */
  async countInterrupted(): Promise<number> {
    const { rows } = await this.#query<{ count: string }>(
      `SELECT count(*) AS count FROM ${SCHEMA}.inbox_work WHERE state = 'leased'`,
    );
    return Number(rows[0]?.count) + this.#countRecoveries();
  }

  /** Ends all trouble, waits until everything is done, and says what is wrong. */
  async finish(): Promise<ClusterResult> {
    this.sandbox.faults.clear();
    const left = await this.#comeToRest();
    const rows = this.sandbox.deliveries();
    return {
      events: this.#ids.length,
      attempts: rows.length,
      failedAttempts: rows.filter(({ status }) => status !== "delivered").length,
      recoveries: this.#countRecoveries(),
      violations: left === "" ? await this.#findWrong() : [`did not come to rest: ${left}`],
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#processes.map((each) => each.kill()));
    await this.sandbox.close();
    this.#relay?.close();
    await this.#pool?.end();
    if (this.#dataDirectory !== "") await stopAtOnce(this.#dataDirectory).catch(() => undefined);
    await this.#server?.stop();
  }

  /** Round-robin, to dead and sleeping processes too. */
  async #passOn(request: Request): Promise<Response> {
    this.#turn += 1;
    const { port } = (this.#processes[this.#turn % NODES] as ClusterProcess).config;
    const body = await request.arrayBuffer();
    const { headers, signal } = request;
    return fetch(`http://127.0.0.1:${port}/hooks`, { method: "POST", headers, body, signal });
  }

  #pickProcess(): ClusterProcess {
    return this.#processes[Math.floor(this.#random() * NODES)] as ClusterProcess;
  }

  #emitOne(takesMs?: number): void {
    this.#enable();
    const id = `evt_${this.#ids.length}`;
    // Some take so long that trouble meets them in the middle.
    const longestMs = this.#random() < 0.2 ? 800 : 60;
    const data = { failFirst: this.#random() < 0.1, waitMs: takesMs ?? Math.floor(this.#random() * longestMs) };
    const { deliveries } = this.sandbox.emit("email.sent", data, { id });
    if (deliveries.length > 0) this.#ids.push(id);
  }

  /** The owner of an endpoint that the service has switched off switches it on again. */
  #enable(): void {
    if (this.sandbox.endpoints.get(this.#endpointId).enabled) return;
    this.sandbox.endpoints.update(this.#endpointId, { enabled: true });
  }

  async #comeToRest(): Promise<string> {
    let least = Infinity;
    for (let untilMs = Date.now() + PROGRESS_MS; ; await sleep(100)) {
      this.#enable();
      const left = { undelivered: this.#replayMissing(), ...(await this.#readLeft()) };
      const count = Object.values(left).reduce((sum, each) => sum + each, 0);
      if (count === 0) return "";
      if (count < least) untilMs = Date.now() + PROGRESS_MS;
      least = Math.min(least, count);
      if (Date.now() > untilMs) return JSON.stringify({ left, work: await this.#describeWork() });
    }
  }

  /** The owner has the service send again what has not arrived; gives how many events that are. */
  #replayMissing(): number {
    const rows = this.sandbox.deliveries();
    const arrived = new Set(rows.filter(({ status }) => status === "delivered").map(({ eventId }) => eventId));
    const last = new Map(rows.map((row) => [row.eventId, row]));
    const missing = this.#ids.filter((id) => !arrived.has(id));
    for (const id of missing) {
      const row = last.get(id);
      if (row === undefined || this.#replayed.get(id) === row.id) continue;
      this.#replayed.set(id, row.id);
      void this.sandbox.endpoints.replay(this.#endpointId, row.id).catch(() => this.#replayed.delete(id));
    }
    return missing.length;
  }

  async #readLeft(): Promise<{ work: number; unsent: number }> {
    const { rows } = await this.#query<{ work: string; unsent: string }>(`
      SELECT (SELECT count(*) FROM ${SCHEMA}.inbox_work WHERE state IN ('pending', 'leased')) AS work,
        (SELECT count(*) FROM ${SCHEMA}.outbox_event WHERE state IN ('pending', 'leased')) AS unsent`);
    return { work: Number(rows[0]?.work), unsent: Number(rows[0]?.unsent) };
  }

  async #describeWork(): Promise<object[]> {
    const { rows } = await this.#query<object>(`
      SELECT w.state, w.process, w.started, w.finished, to_timestamp(w.lease_until / 1000) - clock_timestamp() AS held_for,
        to_timestamp(w.due_at / 1000) - clock_timestamp() AS due_in, to_jsonb(n) AS of
      FROM ${SCHEMA}.inbox_work AS w LEFT JOIN ${SCHEMA}.inbox_process AS n ON n.id = w.process
      WHERE w.state <> 'done' LIMIT 10`);
    return rows;
  }

  async #findWrong(): Promise<string[]> {
    const effects = await this.#countById(`SELECT event AS id FROM ${EFFECTS}`);
    const marks = await this.#countById(
      `SELECT e.id FROM ${SCHEMA}.inbox_work JOIN ${SCHEMA}.inbox_event AS e USING (seq) WHERE state = 'done'`,
    );
    const sent = this.#countSent();
    const wrong = this.#ids.flatMap((id) => {
      const times = [effects, marks, sent].map((counts) => counts.get(id) ?? 0);
      return times.every((count) => count === 1) ? [] : [`${id}: effects, marks, contact events ${times.join(", ")}`];
    });
    const { rows } = await this.#query<{ state: string }>(
      `SELECT state FROM ${SCHEMA}.inbox_work WHERE state <> 'done'`,
    );
    return [...wrong, ...rows.map(({ state }) => `work is ${state}`)];
  }

  #countRecoveries(): number {
    const logged = this.#processes.flatMap((each) => each.logged);
    return logged.filter((msg) => msg === "recovered_work_of_a_dead_process").length;
  }

  /** Contact events that the service has stored, by the event of which they are. */
  #countSent(): Map<string, number> {
    return countEach(this.sandbox.contactEvents.map(({ properties }) => String(properties["of"])));
  }

  async #countById(sql: string): Promise<Map<string, number>> {
    const { rows } = await this.#query<{ id: string }>(sql);
    return countEach(rows.map(({ id }) => id));
  }

  #query<Row extends object>(sql: string) {
    if (this.#pool === undefined) throw new Error("The cluster has not begun.");
    return this.#pool.query<Row>(sql);
  }
}
