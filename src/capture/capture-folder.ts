import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, systemClock } from "../base/clock.js";
import { DAY } from "../base/duration.js";
import { PigeonholeError } from "../base/error.js";
import { checkWholeNumber } from "../base/option-check.js";
import type { Capture } from "./capture.js";
import { isCaptureId } from "./capture-id.js";
import { type BrokenFile, readCaptureFiles, writeCaptureFile } from "./capture-files.js";

export interface CaptureFolderOptions {
  /** Most captures that are kept; the oldest go first, pinned ones never. @default 1,000 */
  max?: number;
  /** How long captures are kept, in milliseconds; pinned ones for ever. @default 7 days */
  keepMs?: number;
  /** @default the machine's */
  clock?: Clock;
}

/** Captures on disk, one JSON file each, with all of them in memory. For one process at a time. */
export interface CaptureFolder {
  /** Folder of the capture files. */
  readonly path: string;
  readonly size: number;
  /** Files that were found at opening and hold no capture. */
  readonly broken: readonly BrokenFile[];
  /** Newest first. */
  list(): Capture[];
  get(id: string): Capture | undefined;
  /** Keeps a capture, in place of one of the same id; resolves with the ids that had to go once it is on disk. */
  add(capture: Capture): Promise<{ removed: string[] }>;
  /** Changes a capture; changes of one capture take effect in the order of the calls. Rejects with `no_capture`. */
  update(id: string, change: (capture: Capture) => Capture): Promise<Capture>;
  /** Deletes captures, pinned ones too; resolves with how many there were. */
  remove(ids: readonly string[]): Promise<number>;
  /** Deletes what is over `max` or older than `keepMs`; resolves with the ids. */
  prune(): Promise<string[]>;
  /** Resolves once everything asked for so far is on disk. */
  flush(): Promise<void>;
}

/**
 * Opens the folder `captures` in `path` (such as `.pigeonhole`), making both: mode 0700, and a `.gitignore` for everything in
 * `path`, since captured deliveries hold personal data. Files that cannot be read are listed in `broken`.
 */
export function openCaptureFolder(path: string, options: CaptureFolderOptions = {}): CaptureFolder {
  const { clock = systemClock } = options;
  const max = checkWholeNumber("max", options.max ?? 1000, { min: 1 });
  const keepMs = checkWholeNumber("keepMs", options.keepMs ?? 7 * DAY, { min: 1 });
  const folder = makeFolder(path);
  const { captures, fileOf, broken } = load(folder);
  /** Oldest first, so that a new one goes to the end. */
  let order = [...captures.values()].toSorted(byTime);
  /** The last write of each capture that is under way. */
  const writes = new Map<string, Promise<void>>();

  function write(id: string, task: () => Promise<void>): Promise<void> {
    const written = (writes.get(id) ?? Promise.resolve()).catch(() => undefined).then(task);
    writes.set(id, written);
    const forget = (): void => void (writes.get(id) === written && writes.delete(id));
    written.then(forget, forget);
    return written;
  }

  function put(capture: Capture): Promise<void> {
    const { id } = capture;
    const old = captures.get(id);
    captures.set(id, capture);
    if (old?.receivedAt === capture.receivedAt) order[order.indexOf(old)] = capture;
    else insert(order, capture, old);
    const file = fileOf.get(id) ?? join(folder, `${id}.json`);
    fileOf.set(id, file);
    return write(id, () => writeCaptureFile(file, capture));
  }

  async function remove(ids: readonly string[]): Promise<string[]> {
    const gone = new Set(ids.filter((id) => captures.has(id)));
    if (gone.size === 0) return [];
    order = order.filter(({ id }) => !gone.has(id));
    const removed = [...gone].map((id) => {
      const file = fileOf.get(id) ?? "";
      captures.delete(id);
      fileOf.delete(id);
      return write(id, () => rm(file, { force: true }));
    });
    await Promise.all(removed);
    return [...gone];
  }

  function prune(): Promise<string[]> {
    const oldest = clock.now() - keepMs;
    const free = order.filter(({ pinned }) => !pinned);
    const over = Math.max(0, order.length - max);
    return remove(
      free.filter(({ receivedAt }, index) => index < over || Date.parse(receivedAt) < oldest).map(({ id }) => id),
    );
  }

  return {
    path: folder,
    broken,
    get size() {
      return captures.size;
    },
    list: () => order.toReversed(),
    get: (id) => captures.get(id),
    async add(capture) {
      if (!isCaptureId(capture.id)) {
        throw new PigeonholeError("invalid_capture", "The id of a capture must be letters, digits, _ and - only.");
      }
      const written = put(capture);
      const isDue = order.length > max || Date.parse(order[0]?.receivedAt ?? "") < clock.now() - keepMs;
      const [removed] = await Promise.all([isDue ? prune() : [], written]);
      return { removed };
    },
    async update(id, change) {
      const capture = captures.get(id);
      if (capture === undefined) throw new PigeonholeError("no_capture", `There is no capture "${id}".`);
      const changed = { ...change(capture), id };
      await put(changed);
      return changed;
    },
    remove: async (ids) => (await remove(ids)).length,
    prune,
    async flush() {
      while (writes.size > 0) await Promise.all(writes.values());
    },
  };
}

function makeFolder(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const ignore = join(path, ".gitignore");
  if (!existsSync(ignore)) writeFileSync(ignore, "*\n");
  const folder = join(path, "captures");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  return folder;
}

function load(folder: string): { captures: Map<string, Capture>; fileOf: Map<string, string>; broken: BrokenFile[] } {
  const { files, broken } = readCaptureFiles(folder);
  const captures = new Map<string, Capture>();
  const fileOf = new Map<string, string>();
  for (const { file, capture } of files) {
    const first = fileOf.get(capture.id);
    if (first === undefined) {
      captures.set(capture.id, capture);
      fileOf.set(capture.id, file);
    } else broken.push({ file, reason: `The capture "${capture.id}" is already in ${first}.` });
  }
  return { captures, fileOf, broken };
}

/** Earlier first; by id within a millisecond. */
export function byTime(a: Capture, b: Capture): number {
  return Date.parse(a.receivedAt) - Date.parse(b.receivedAt) || (a.id < b.id ? -1 : Number(a.id > b.id));
}

function insert(order: Capture[], capture: Capture, old: Capture | undefined): void {
  if (old !== undefined) order.splice(order.indexOf(old), 1);
  // Nearly always the newest, so the search starts at the end.
  let at = order.length;
  for (let before = order[at - 1]; before !== undefined && byTime(before, capture) > 0; before = order[at - 1]) at -= 1;
  order.splice(at, 0, capture);
}
