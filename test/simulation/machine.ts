import { copyFileSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { MINUTE } from "#pigeonhole/base/duration.js";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { type Random, seededRandom } from "#pigeonhole/base/random.js";
import type { PigeonholeError, RetryAfter, createReceiver, createSqliteStore } from "pigeonhole";
import type { Sandbox } from "pigeonhole/sandbox";
import { registerHandlers } from "./handlers.js";
import { Life } from "./life.js";
import { MachineClock } from "./machine-clock.js";
import type { CrashPlan, Place, SeedPlan, StoreFault } from "./plan.js";
import { dropUnsynced, isSynced, watchConnections } from "./power.js";
import { SharedFile } from "./shared-file.js";
import { watchStore } from "./watch-store.js";
import type { WorldClock } from "./world-clock.js";

/** The package under test: the built one, or a copy with a mistake in it. */
export interface Kit {
  createReceiver: typeof createReceiver;
  createSqliteStore: typeof createSqliteStore;
  PigeonholeError: typeof PigeonholeError;
  RetryAfter: typeof RetryAfter;
}

export interface MachineOptions {
  plan: SeedPlan;
  kit: Kit;
  clock: WorldClock;
  /** For the files of all lives. */
  folder: string;
  /** The file that the first life finds. */
  file: string;
  /** Where the receiver reads its secrets. */
  secrets: () => string[];
  sandbox: () => Sandbox;
  /** Something happened that the seeded worlds are built for. */
  onMet: (what: string) => void;
}

/** A place for a process, where one life follows the other. */
interface Slot {
  life: Life | undefined;
  lives: number;
  crash: CrashPlan | undefined;
  starting: Promise<void>;
}

/** The receiver's machine: one process or two that are started, die, and are started again. */
export class Machine {
  /** How far its wall clock is ahead. */
  skewMs = 0;
  isCutOff = false;
  /** A proxy in front sends each delivery twice. */
  isCopying = false;
  /** The file of the lock was removed: each process that has it open sees that at some later call. */
  wasLockTaken = false;
  /** Why a process could not be started, if that ever happened without a fault of the disk. */
  failure: unknown;
  readonly shared = new SharedFile();
  readonly #options: MachineOptions;
  readonly #random: Random;
  readonly #slots: Slot[];
  #file: string;
  #crashes = 0;

  constructor(options: MachineOptions) {
    const { plan } = options;
    this.#options = options;
    this.#file = options.file;
    this.#random = seededRandom(`machine ${plan.seed}`);
    this.#slots = Array.from({ length: plan.processes }, () => {
      return { life: undefined, lives: 0, crash: undefined, starting: Promise.resolve() };
    });
    watchConnections();
  }

  /** A life that takes deliveries now; undefined while none does. */
  get serving(): Life | undefined {
    return this.#serving[0];
  }

  get #serving(): Life[] {
    return this.#slots.flatMap(({ life }) => (life?.isServing === true && !life.isFrozen ? [life] : []));
  }

  /** No process sleeps for a while. */
  wake(forMs: number): void {
    for (const { clock } of this.#serving) clock.wake(forMs);
  }

  /** True when every process runs. */
  get isWhole(): boolean {
    return this.#serving.length === this.#slots.length;
  }

  /** The file as the last life left it. */
  get file(): string {
    return this.#file;
  }

  /** Takes a delivery, as the network does: rejects when nobody listens and when the connection breaks off. */
  async receive(request: Request): Promise<Response> {
    if (!this.isCopying) return this.#receiveOnce(request);
    const copy = request.clone();
    return Promise.any([this.#receiveOnce(request), this.#receiveOnce(copy)]);
  }

  async #receiveOnce(request: Request): Promise<Response> {
    const serving = this.#serving;
    const life = serving[Math.floor(this.#random() * serving.length)];
    if (this.isCutOff || life?.receiver === undefined) throw new Error("connection refused");
    life.clock.wake();
    if (!life.passes("delivery")) return life.death;
    const response = await Promise.race([life.receiver.fetch(request), life.connection]);
    // It may die right behind the answer, which then is on its way.
    if (response.ok) life.passes("answered");
    return response;
  }

  expectCrash(plan: CrashPlan): void {
    const slot = this.#slotOf(plan.slot);
    slot.crash = plan;
    slot.life?.expectCrash(plan);
  }

  /** Stops in an orderly way and starts again. */
  async restart(number: number, timeoutMs: number): Promise<void> {
    const slot = this.#slotOf(number);
    const { life } = slot;
    if (life === undefined || !life.isServing || life.isFrozen) return;
    await this.#stop(life, timeoutMs);
    if (life.isAlive) {
      life.end();
      this.#start(slot);
    }
  }

  /**
   * The disk refuses every call for a while. A store that is broken by it needs a new process, which an operator
   * starts.
   */
  setStoreFault(fault: StoreFault | undefined): void {
    const wasBroken = this.shared.fault === "store_failed";
    this.shared.fault = fault;
    if (fault !== undefined) this.#options.onMet(`store: ${fault}`);
    if (wasBroken) for (const number of this.#slots.keys()) this.#startAgain(number);
  }

  /** What a delivery writes takes so long from now on. */
  setSlowMs(ms: number): void {
    this.shared.slowMs = ms;
    if (ms > 0) this.#options.onMet("slow disk");
  }

  /** One that stands still has to wait. */
  #startAgain(number: number): void {
    if (this.#slotOf(number).life?.isFrozen !== true) void this.restart(number, 0);
    else this.#options.clock.setTimer(() => this.#startAgain(number), MINUTE);
  }

  /** Stands still. Its lock may be gone meanwhile: then another process may be the owner when it goes on. */
  freeze(number: number, { losesLock, forMs }: { losesLock: boolean; forMs: number }): void {
    const slot = this.#slotOf(number);
    const { life } = slot;
    if (life === undefined || !life.isServing || life.isFrozen) return;
    this.#options.onMet(losesLock ? "frozen, without its lock" : "frozen");
    life.freeze();
    if (losesLock) this.#loseLock(life);
    // The other process looks each second whether it has to take over.
    this.wake(MINUTE);
    this.#options.clock.setTimer(() => life.thaw(), forMs);
  }

  /** Whichever process owns the file loses it, the one that stands still or the other. */
  #loseLock(frozen: Life): void {
    const { owner = frozen } = this.shared;
    owner.hasLostLock = true;
    this.wasLockTaken = true;
    rmSync(`${frozen.file}-owner`, { force: true });
  }

  /** Ends for good. */
  async stop(): Promise<void> {
    for (const { starting, life } of this.#slots) {
      await starting;
      if (life === undefined || !life.isAlive) continue;
      const stopped = this.#stop(life, 0);
      // A run that has not ended yet is waited for until a timer of this moment.
      await this.#options.clock.advance(0);
      await stopped;
      life.end();
    }
  }

  /** Ends at once. */
  async breakOff(): Promise<void> {
    for (const { life } of this.#slots) life?.cutOff();
    const stores = this.#slots.flatMap(({ life }) => life?.store ?? []);
    await Promise.all(stores.map((store) => store.close().catch(() => undefined)));
  }

  start(): void {
    for (const slot of this.#slots) this.#start(slot);
  }

  #slotOf(number: number): Slot {
    const slot = this.#slots[number % this.#slots.length];
    if (slot === undefined) throw new Error("There is no process.");
    return slot;
  }

  #start(slot: Slot): void {
    slot.starting = this.#startLife(slot).catch((error: unknown) => {
      const { life } = slot;
      if (life?.isAlive !== true) return;
      // As a supervisor does with a process that cannot start.
      if (this.shared.fault === undefined) this.failure ??= error;
      life.end();
      this.#options.clock.setTimer(() => this.#start(slot), MINUTE);
    });
  }

  async #startLife(slot: Slot): Promise<void> {
    const { kit, clock, plan, secrets, sandbox } = this.#options;
    slot.lives += 1;
    const name = `${plan.seed} slot ${this.#slots.indexOf(slot)} life ${slot.lives}`;
    const file = this.#file;
    const machineClock = new MachineClock(clock, () => this.skewMs);
    const { shared } = this;
    const onCrash = (place: Place): void => this.#onCrash(slot, life, place);
    const life: Life = new Life({ file, clock: machineClock, shared, onCrash });
    slot.life = life;
    // Without a thread of its own, so that the order of everything is that of the seed.
    const store = kit.createSqliteStore({ file, thread: false });
    life.store = store;
    const receiver = kit.createReceiver({
      secrets,
      store: watchStore(store, {
        life,
        random: seededRandom(`store ${name}`),
        turns: plan.storeTurns,
        Refusal: kit.PigeonholeError,
        time: clock,
      }),
      api: {
        ...sandbox().clientOptions,
        fetch: (url, init) => {
          machineClock.wake();
          return life.between("api_call", "api_answer", () => sandbox().fetch(url, init));
        },
      },
      clock: machineClock,
      random: seededRandom(name),
      logger: silentLogger,
      telemetry: false,
    });
    registerHandlers(receiver, { life, seed: plan.seed, RetryAfter: kit.RetryAfter });
    life.receiver = receiver;
    if (slot.crash !== undefined) life.expectCrash(slot.crash);
    await Promise.race([receiver.start(), life.death]);
    life.isServing = life.isAlive;
  }

  /** While it stops it still listens and answers 503. A crash may come in between. */
  async #stop(life: Life, timeoutMs: number): Promise<void> {
    life.clock.wake(timeoutMs + 1);
    const stopped = life.receiver?.stop({ timeoutMs });
    await Promise.race([stopped, life.death]).catch(() => undefined);
  }

  #onCrash(slot: Slot, dead: Life, place: Place): void {
    const crash = slot.crash;
    this.#options.onMet(`crash: ${place}`);
    const { times = 0, downMs = MINUTE, power = false } = crash ?? {};
    slot.crash = crash !== undefined && times > 1 ? { ...crash, times: times - 1 } : undefined;
    const isAlone = this.#slots.every(({ life }) => life === undefined || life === dead || !life.isAlive);
    if (power || isAlone) this.#losePower(dead, downMs, power);
    else {
      // What its thread has begun is done; then the system takes its locks from it.
      this.#options.onMet("one of two died");
      void dead.store?.close().catch(() => undefined);
      this.#startLater(slot, downMs);
    }
  }

  /** What is on disk at this instant is all that the next lives get, and all processes have died. */
  #losePower(dead: Life, downMs: number, isPower: boolean): void {
    const before = this.#file;
    this.#crashes += 1;
    this.#file = join(this.#options.folder, `inbox-${this.#crashes}.db`);
    for (const suffix of ["", "-wal"]) {
      if (existsSync(before + suffix)) copyFileSync(before + suffix, this.#file + suffix);
    }
    if (isPower) this.#options.onMet("power lost");
    if (isPower && !isSynced(before)) dropUnsynced(this.#file, this.#random);
    for (const slot of this.#slots) {
      const { life } = slot;
      const isDying = life === dead || life?.isAlive === true;
      if (life?.isAlive === true) life.cutOff();
      if (!isDying) continue;
      void life?.store?.close().catch(() => undefined);
      this.#startLater(slot, downMs);
    }
  }

  #startLater(slot: Slot, downMs: number): void {
    this.#options.clock.setTimer(() => this.#start(slot), downMs);
  }
}
