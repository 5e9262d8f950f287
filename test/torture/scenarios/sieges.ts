import { setTimeout as sleep } from "node:timers/promises";
import { DAY, HOUR, MINUTE } from "#pigeonhole/base/duration.js";
import { type Random, seededRandom } from "#pigeonhole/base/random.js";
import { BUILT_ENTRY } from "../../simulation/package-copy.js";
import { Siege, type SiegeOptions, type SiegeResult } from "../siege.js";
import { type DiskFaults, EIO, ENOSPC, EROFS } from "../shim/shim.js";
import { pick } from "../../support/seeded-random.js";

export interface Trouble {
  siege: Siege;
  random: Random;
  /** False once the siege has lasted long enough. */
  goesOn: () => boolean;
}

/** What is done to a receiver while events come. */
export const SIEGES = {
  /** SIGKILL at any moment, while answers are lost and late on both sides. */
  async kills({ siege, random, goesOn }) {
    siege.sandbox.faults.deliveries.add({ fault: { kind: "lose_answer" }, probability: 0.1 });
    siege.sandbox.faults.deliveries.add({ fault: { kind: "duplicate", copies: 2 }, probability: 0.1 });
    siege.sandbox.faults.deliveries.add({ fault: { kind: "delay", delayMs: 5 * MINUTE }, probability: 0.1 });
    siege.sandbox.faults.api.add({ fault: { kind: "no_answer", executed: true }, probability: 0.2 });
    siege.sandbox.faults.api.add({ fault: { kind: "error", status: 503, executed: true }, probability: 0.05 });
    siege.sandbox.faults.api.add({ fault: { kind: "delay", delayMs: 30 }, probability: 0.3 });
    while (goesOn()) {
      await sleep(random() * 500);
      await siege.kill();
      await siege.start();
    }
  },
  /** The disk is full, broken, read-only or slow for a while, and sometimes the process is started again meanwhile. */
  async disk_faults({ siege, random, goesOn }) {
    while (goesOn()) {
      await sleep(100 + random() * 200);
      siege.setFaults(pick(random, DISK_FAULTS)(random));
      await sleep(100 + random() * 700);
      if (random() < 0.3) {
        await siege.kill();
        await siege.tryToStart();
      }
      siege.setFaults({});
      await sleep(100);
      if (random() < 0.6) await (random() < 0.5 ? siege.kill() : siege.stop());
      await siege.startAgain();
    }
  },
  /** The wall clock of the receiver's machine jumps, and the process dies now and then. */
  async clock_steps({ siege, random, goesOn }) {
    while (goesOn()) {
      await sleep(100 + random() * 300);
      const byMs = (random() < 0.5 ? -1 : 1) * random() * pick(random, [4 * MINUTE, HOUR, 3 * DAY]);
      siege.setFaults({ clockMillis: random() < 0.3 ? 0 : Math.round(byMs) });
      if (random() < 0.8) continue;
      await siege.kill();
      await siege.start();
    }
  },
  /** Nothing is wrong but the load, for a long time, with an orderly restart now and then. */
  async soak({ siege, random, goesOn }) {
    while (goesOn()) {
      await sleep(500 + random() * 2_000);
      if (random() < 0.8) continue;
      await siege.stop();
      await siege.start();
    }
  },
} satisfies Record<string, (trouble: Trouble) => Promise<void>>;

export type SiegeName = keyof typeof SIEGES;

const EVENTS_PER_SECOND: Record<SiegeName, number> = { kills: 60, disk_faults: 60, clock_steps: 60, soak: 200 };

const DISK_FAULTS: readonly ((random: Random) => Partial<DiskFaults>)[] = [
  (random) => ({ writeErrno: ENOSPC, changeErrno: ENOSPC, bytesLeft: Math.floor(random() * 100_000) }),
  (random) => ({ writeErrno: EIO, failsIn: Math.floor(random() * 30) }),
  (random) => ({ syncErrno: EIO, failsIn: Math.floor(random() * 10) }),
  (random) => ({ writeErrno: EROFS, changeErrno: EROFS, failsIn: Math.floor(random() * 10) }),
  (random) => ({ syncMicros: Math.floor(random() * 1_500_000) }),
];

/** Lets a siege last for so many seconds at least, and until enough was at stake. */
export async function besiege(
  name: SiegeName,
  { shim, seed: number, seconds }: { seconds: number; seed: number } & Pick<SiegeOptions, "shim">,
): Promise<SiegeResult> {
  const seed = `${number} ${name}`;
  const random = seededRandom(seed);
  const siege = new Siege({ shim, random, seed, entry: BUILT_ENTRY });
  const endAt = Date.now() + seconds * 1_000;
  const isEnough = () => siege.events > 50 && siege.apiCalls > 0 && (name !== "kills" || siege.kills > 1);
  try {
    await siege.begin(EVENTS_PER_SECOND[name]);
    await SIEGES[name]({ siege, random, goesOn: () => Date.now() < endAt || !isEnough() });
    return await siege.finish();
  } finally {
    await siege.close();
  }
}
