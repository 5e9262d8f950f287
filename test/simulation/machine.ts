import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { seededRandom } from "#pigeonhole/base/seeded-random.js";
import type { createReceiver, createSqliteStore } from "pigeonhole";
import type { ManualClock, Sandbox } from "pigeonhole/sandbox";
import { registerHandlers } from "./handlers.js";
import { Life } from "./life.js";
import { MachineClock } from "./machine-clock.js";
import type { CrashPlan, Place } from "./plan.js";

/** The package under test: the built one, or a copy with a mistake in it. */
export interface Kit {
  createReceiver: typeof createReceiver;
  createSqliteStore: typeof createSqliteStore;
}

export interface MachineOptions {
  seed: number;
  kit: Kit;
  clock: ManualClock;
  /** For the files of all lives. */
  folder: string;
  /** The file that the first life finds. */
  file: string;
  /** Where the receiver reads its secrets. */
  secrets: () => string[];
  sandbox: () => Sandbox;
  onCrash: (place: Place) => void;
}

/** The receiver's machine: a process that is started, dies, and is started again. */
export class Machine {
  /** How far its wall clock is ahead. */
  skewMs = 0;
  isCutOff = false;
  /** Why it could not be started, if that ever happened. */
  failure: unknown;
  readonly #options: MachineOptions;
  #life: Life | undefined;
  #file: string;
  #lives = 0;
  #crashes = 0;
  #crash: CrashPlan | undefined;
  #starting: Promise<void> = Promise.resolve();

  constructor(options: MachineOptions) {
    this.#options = options;
    this.#file = options.file;
  }

  /** The life that takes deliveries now; undefined while the process is down, starting or stopping. */
  get serving(): Life | undefined {
    return this.#life?.isServing === true ? this.#life : undefined;
  }

  /** The file as the last life left it. */
  get file(): string {
    return this.#file;
  }

  /** Takes a delivery, as the network does: rejects when nobody listens and when the connection breaks off. */
  async receive(request: Request): Promise<Response> {
    const life = this.#life;
    if (this.isCutOff || life?.receiver === undefined || !life.isServing) throw new Error("connection refused");
    life.clock.wake();
    if (!life.passes("delivery")) return life.death;
    const response = await Promise.race([life.receiver.fetch(request), life.death]);
    // It may die right behind the answer, which then is on its way.
    life.passes("answered");
    return response;
  }

  expectCrash(plan: CrashPlan): void {
    this.#crash = plan;
    this.#life?.expectCrash(plan);
  }

  /** Stops in an orderly way and starts again. */
  async restart(): Promise<void> {
    const life = this.serving;
    if (life === undefined) return;
    await this.#stop(life);
    if (life.isAlive) {
      life.end();
      this.start();
    }
  }

  /** Ends for good. */
  async stop(): Promise<void> {
    await this.#starting;
    const life = this.#life;
    if (life === undefined || !life.isAlive) return;
    await this.#stop(life);
    life.end();
  }

  start(): void {
    this.#starting = this.#startLife().catch((error: unknown) => {
      if (this.#life?.isAlive === true) this.failure ??= error;
    });
  }

  async #startLife(): Promise<void> {
    const { kit, clock, seed, secrets, sandbox } = this.#options;
    this.#lives += 1;
    const file = this.#file;
    const machineClock = new MachineClock(clock, () => this.skewMs);
    const life: Life = new Life({ file, clock: machineClock, onCrash: (place) => this.#onCrash(life, place) });
    this.#life = life;
    const receiver = kit.createReceiver({
      secrets,
      // Without a thread of its own, so that the order of everything is that of the seed.
      store: life.watchStore(kit.createSqliteStore({ file, thread: false })),
      api: {
        ...sandbox().clientOptions,
        fetch: (url, init) => {
          machineClock.wake();
          return life.between("api_call", "api_answer", () => sandbox().fetch(url, init));
        },
      },
      clock: machineClock,
      random: seededRandom(`${seed} life ${this.#lives}`),
      logger: silentLogger,
      telemetry: false,
    });
    registerHandlers(receiver, life, seed);
    life.receiver = receiver;
    if (this.#crash !== undefined) life.expectCrash(this.#crash);
    await Promise.race([receiver.start(), life.death]);
    life.isServing = life.isAlive;
  }

  /** While it stops it still listens and answers 503. A crash may come in between. */
  async #stop(life: Life): Promise<void> {
    life.clock.wake();
    const stopped = life.receiver?.stop({ timeoutMs: 0 });
    await Promise.race([stopped, life.death]).catch(() => undefined);
  }

  /** What is on disk at this instant is all that the next life gets. */
  #onCrash(dead: Life, place: Place): void {
    this.#crashes += 1;
    this.#file = join(this.#options.folder, `inbox-${this.#crashes}.db`);
    for (const suffix of ["", "-wal"]) {
      if (existsSync(dead.file + suffix)) copyFileSync(dead.file + suffix, this.#file + suffix);
    }
    void dead.store?.close().catch(() => undefined);
    this.#options.onCrash(place);
    const { times = 0, downMs = 0 } = this.#crash ?? {};
    this.#crash = this.#crash !== undefined && times > 1 ? { ...this.#crash, times: times - 1 } : undefined;
    this.#options.clock.setTimer(() => this.start(), downMs);
  }
}
