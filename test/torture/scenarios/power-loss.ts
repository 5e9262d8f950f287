import { setTimeout as sleep } from "node:timers/promises";
import { seededRandom } from "#pigeonhole/base/random.js";
import { BUILT_ENTRY } from "../../simulation/package-copy.js";
import { type State, checkState } from "../disk/check-state.js";
import { Disk, LOSSES, type Loss } from "../disk/disk.js";
import type { LogEntry, Mark } from "../disk/log.js";
import { DATABASE, type Recording, type RecordingStage, record } from "../disk/record.js";
import { copyOf } from "../packages.js";
import { EIO } from "../shim/shim.js";

/** What real processes do while they are recorded. */
export const PLAYS = {
  /** A file is made, opened, closed, and opened again. */
  async first_start({ start, end, deliver }) {
    const first = await start();
    await deliver(3);
    await end(first, "SIGTERM");
    const second = await start();
    await deliver(3);
    await end(second, "SIGKILL");
  },
  /** The WAL is copied into the file again and again, also after a process was killed. */
  async checkpoints({ start, end, deliver, random }) {
    const first = await start();
    for (let burst = 0; burst < 4; burst += 1) await deliver(1 + Math.floor(random() * 8));
    await Promise.all([deliver(8), sleep(random() * 20).then(() => end(first, "SIGKILL"))]).catch(() => undefined);
  },
  /** What is old is removed. */
  async pruning({ start, end, deliver, random }) {
    const only = await start();
    for (let burst = 0; burst < 5; burst += 1) {
      await deliver(1 + Math.floor(random() * 6));
      await sleep(40);
    }
    await end(only, "SIGKILL");
  },
  /** Two processes write; the one with the handlers goes, the other takes over. */
  async two_processes({ start, end, deliver, random }) {
    const older = await start();
    const younger = await start();
    await deliver(6);
    await end(older, random() < 0.5 ? "SIGKILL" : "SIGTERM");
    await deliver(6);
    await sleep(1_200);
    await deliver(3);
    await end(younger, "SIGTERM");
  },
  /** A sync fails, the process is started again on what the system still shows of it, and goes on. */
  async failed_sync({ start, end, deliver, failSyncs, random }) {
    const first = await start();
    await deliver(4);
    failSyncs({ errno: EIO, failsIn: Math.floor(random() * 2) });
    const underWay = deliver(6);
    await sleep(30);
    await end(first, random() < 0.5 ? "SIGKILL" : "SIGTERM");
    failSyncs({ errno: 0, failsIn: 0 });
    const second = await start();
    await Promise.all([underWay, deliver(4)]);
    await end(second, "SIGKILL");
  },
} satisfies Record<string, (stage: RecordingStage) => Promise<void>>;

export type PlayName = keyof typeof PLAYS;

/** Mistakes that must be found: the play in which each shows, and as what. */
export const MISTAKES = {
  /** `synchronous=NORMAL`. */
  normal: { play: "first_start", shows: /answered and lost/ },
  /** The done mark is outside of the user's transaction. */
  mark_outside: { play: "checkpoints", shows: /done false, 1 effects/ },
  /** Idempotency keys are made when a call is sent. */
  random_keys: { play: "checkpoints", shows: /"effects":1,"(ledger":[2-9]|ledger":1,"courier":[2-9])/ },
} as const;
export type Mistake = keyof typeof MISTAKES;

export interface PowerLossOptions {
  shim: string;
  play: PlayName;
  seed: number;
  /** States to look at in all. */
  states: number;
  /** States of one recording at the most; the next comes from a new one. */
  statesPerRecording: number;
  /** A mistake that is to be found; nothing more is looked at then. */
  mistake?: Mistake;
}

export interface PowerLossResult {
  states: number;
  /** States with something answered in them, which could be lost. */
  withAnswers: number;
  /** Syncs of the file itself, which come with a checkpoint. */
  checkpoints: number;
  /** States in which something answered and done had been removed. */
  pruned: number;
  violations: string[];
}

/** Records runs of real processes and starts the package on what power cuts would leave of them. */
export async function cutPower(options: PowerLossOptions): Promise<PowerLossResult> {
  const { states, seed, play, statesPerRecording } = options;
  const result: PowerLossResult = { states: 0, withAnswers: 0, checkpoints: 0, pruned: 0, violations: [] };
  for (let number = 0; result.states < states; number += 1) {
    if (options.mistake !== undefined && result.violations.length > 0) break;
    const name = `${seed} ${play} ${number}`;
    const recording = await record({
      shim: options.shim,
      random: seededRandom(`record ${name}`),
      config: {
        entry: entryFor(options),
        ...(play === "pruning" && { pruneOlderMs: 80 }),
        ...(options.mistake === "mark_outside" && { markOutside: true }),
        ...(options.mistake === "random_keys" && { randomKeys: true }),
      },
      play: PLAYS[play],
    });
    result.checkpoints += countCheckpoints(recording.entries);
    await checkRecording(
      recording,
      { ...options, name, most: Math.min(statesPerRecording, states - result.states) },
      result,
    );
  }
  return result;
}

interface RecordingCheck extends PowerLossOptions {
  name: string;
  most: number;
}

/** Looks at so many states of a recording, chosen at random among all. */
async function checkRecording(recording: Recording, check: RecordingCheck, result: PowerLossResult): Promise<void> {
  const random = seededRandom(`cut ${check.name}`);
  const cuts = chooseCuts(recording.entries.length, check.most, random);
  const disk = new Disk();
  const answered = new Set<string>();
  const calls: (Mark & { what: "called" })[] = [];
  for (const [index, entry] of recording.entries.entries()) {
    disk.apply(entry);
    if (entry.kind === "mark" && entry.mark.what === "answered") answered.add(entry.mark.eventId);
    if (entry.kind === "mark" && entry.mark.what === "called") calls.push(entry.mark);
    for (const loss of cuts.get(index) ?? []) {
      const files = disk.cut(loss, random);
      const mayBePruned = check.play === "pruning";
      const state: State = { files, events: recording.events, answered, calls, mayBePruned };
      const { wrong, pruned } = await checkState(state);
      if (pruned > 0) result.pruned += 1;
      result.states += 1;
      if (answered.size > 0) result.withAnswers += 1;
      if (wrong.length > 0)
        result.violations.push(`${check.name}, cut at ${index}, ${loss}: ${wrong.slice(0, 3).join("; ")}`);
      if (wrong.length > 0 && check.mistake !== undefined) return;
    }
  }
}

function countCheckpoints(entries: readonly LogEntry[]): number {
  const files = new Set(
    entries.flatMap((entry) => (entry.kind === "create" && entry.path === DATABASE ? [entry.file] : [])),
  );
  return entries.filter((entry) => entry.kind === "sync_end" && files.has(entry.file)).length;
}

/** A failed sync shows only while the WAL lives on. */
function entryFor({ play, mistake }: PowerLossOptions): string {
  if (play === "failed_sync") return BUILT_ENTRY;
  return copyOf(mistake === "normal" ? "normal" : "often_checkpointed");
}

/** Losses by place in the recording. Every place with every loss is as likely as any other. */
function chooseCuts(places: number, most: number, random: () => number): Map<number, Loss[]> {
  const all = Array.from({ length: places * LOSSES.length }, (_, index) => index);
  for (let index = all.length - 1; index > 0; index -= 1) {
    const other = Math.floor(random() * (index + 1));
    [all[index], all[other]] = [all[other] ?? 0, all[index] ?? 0];
  }
  const cuts = new Map<number, Loss[]>();
  for (const chosen of all.slice(0, most)) {
    const place = Math.floor(chosen / LOSSES.length);
    cuts.set(place, [...(cuts.get(place) ?? []), LOSSES[chosen % LOSSES.length] ?? "none"]);
  }
  return cuts;
}
