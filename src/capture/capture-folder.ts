import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type Clock, systemClock } from "../base/clock.js";
import { DAY } from "../base/duration.js";
import { PigeonholeError } from "../base/error.js";
import { checkWholeNumber } from "../base/option-check.js";
import type { Capture } from "./capture.js";
import { isCaptureId } from "./capture-id.js";
import { type BrokenFile, listCaptureFiles, readCaptureFile, stampOf, writeCaptureFile } from "./capture-files.js";
import { withFileLock } from "./file-lock.js";
import { insertByTime, byTime, loadFolder, makeFolder } from "./load-folder.js";
import { shareHeaders } from "./share-headers.js";
import { watchJsonFiles } from "./watch-files.js";

export interface CaptureFolderOptions {
  /** Most captures that are kept; the oldest go first, pinned ones never. @default 1,000 */
  max?: number;
  /** How long captures are kept, in milliseconds; pinned ones for ever. @default 7 days */
  keepMs?: number;
  /** True for a capture that must stay whatever the limits, as a pinned one does. @default none */
  mustStay?: (capture: Capture) => boolean;
  /** @default the machine's */
  clock?: Clock;
}

/** Hears what other processes do in a folder. */
export interface FolderWatcher {
  /** A capture is new or was changed; `before` is what was known of it. */
  changed(capture: Capture, before: Capture | undefined): void;
  removed(ids: string[]): void;
}

/**
 * Captures on disk, one JSON file each, with all of them in memory. Several processes may write to one folder: a change is made
 * to what is on disk at that moment, and `watch` takes over what others wrote.
 */
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
  /**
   * Changes a capture as it is on disk now; changes of one capture take effect in the order of the calls. Rejects with
   * `no_capture`, also when another process has deleted it, and with `invalid_capture` when its file holds none any more.
   */
  update(id: string, change: (capture: Capture) => Capture): Promise<Capture>;
  /** Takes over what is on disk of a capture now; resolves with it, or undefined when it is gone. */
  refresh(id: string): Promise<Capture | undefined>;
  /** Deletes captures, pinned ones too; resolves with how many there were. */
  remove(ids: readonly string[]): Promise<number>;
  /** Deletes what is over `max` or older than `keepMs`; resolves with the ids. */
  prune(): Promise<string[]>;
  /** Takes over what other processes write, until the function that it returns is called. */
  watch(watcher: FolderWatcher): () => void;
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
  const { mustStay = () => false } = options;
  const folder = makeFolder(path);
  const { captures, fileOf, stamps, broken } = loadFolder(folder);
  /** Oldest first, so that a new one goes to the end. */
  let order = [...captures.values()].toSorted(byTime);
  /** The last write of each capture that is under way. */
  const writes = new Map<string, Promise<void>>();
  let watcher: FolderWatcher | undefined;
  let endWatch = (): void => undefined;

  function write(id: string, task: () => Promise<void>): Promise<void> {
    const written = (writes.get(id) ?? Promise.resolve()).catch(() => undefined).then(task);
    writes.set(id, written);
    const forget = (): void => void (writes.get(id) === written && writes.delete(id));
    written.then(forget, forget);
    return written;
  }

  /** Takes a capture into memory; returns its file. */
  function hold(capture: Capture, file = join(folder, `${capture.id}.json`)): string {
    const { id } = capture;
    const old = captures.get(id);
    shareHeaders(capture);
    captures.set(id, capture);
    if (old?.receivedAt === capture.receivedAt) order[order.indexOf(old)] = capture;
    else insertByTime(order, capture, old);
    const known = fileOf.get(id) ?? file;
    fileOf.set(id, known);
    return known;
  }

  function forget(gone: ReadonlySet<string>): void {
    order = order.filter(({ id }) => !gone.has(id));
    for (const id of gone) {
      captures.delete(id);
      fileOf.delete(id);
    }
  }

  async function store(file: string, capture: Capture): Promise<void> {
    await writeCaptureFile(file, capture).catch(async (error: NodeJS.ErrnoException) => {
      // Somebody has deleted the whole folder, to begin anew. Where the project itself has gone, nothing is begun.
      if (error.code !== "ENOENT" || !existsSync(dirname(path))) throw error;
      makeFolder(path);
      watchAgain();
      await writeCaptureFile(file, capture);
    });
    stamps.set(file, await stampOf(file));
  }

  /** What is on disk of a capture that is in memory; the same one where nobody else has written. */
  async function readLatest(held: Capture, file: string): Promise<Capture> {
    const stamp = await stampOf(file);
    if (stamp === stamps.get(file)) return held;
    if (stamp !== undefined) {
      const latest = await readCaptureFile(file);
      watcher?.changed(latest, held);
      return latest;
    }
    stamps.delete(file);
    forget(new Set([held.id]));
    watcher?.removed([held.id]);
    throw noCapture(held.id);
  }

  async function remove(ids: readonly string[]): Promise<string[]> {
    const gone = new Set(ids.filter((id) => captures.has(id)));
    if (gone.size === 0) return [];
    const files = [...gone].map((id) => ({ id, file: fileOf.get(id) ?? "" }));
    forget(gone);
    const removed = files.map(({ id, file }) =>
      write(id, () =>
        withFileLock(file, async () => {
          await rm(file, { force: true });
          stamps.delete(file);
        }),
      ),
    );
    await Promise.all(removed);
    return [...gone];
  }

  /** The newest stays, also among so many pinned ones that there is no room for it: its sender is told that it is kept. */
  function prune(newest?: string): Promise<string[]> {
    const oldest = clock.now() - keepMs;
    const free = order.filter((capture) => !capture.pinned && !mustStay(capture));
    const over = Math.max(0, order.length - max);
    const isOver = (id: string, index: number): boolean => index < over && id !== newest;
    return remove(
      free
        .filter(({ id, receivedAt }, index) => isOver(id, index) || Date.parse(receivedAt) < oldest)
        .map(({ id }) => id),
    );
  }

  /** Takes over what another process did to a file. */
  function look(file: string): Promise<void> {
    const id = [basename(file, ".json")].find((name) => fileOf.get(name) === file) ?? idOf(file);
    return write(id ?? file, async () => {
      const stamp = await stampOf(file);
      if (stamp === stamps.get(file)) return;
      if (stamp === undefined) {
        stamps.delete(file);
        if (id === undefined || fileOf.get(id) !== file) return;
        forget(new Set([id]));
        watcher?.removed([id]);
        return;
      }
      // Somebody may be in the middle of editing a file by hand: it is read once it is a capture again.
      const capture = await readCaptureFile(file).catch(() => undefined);
      // A second file of one capture is left alone, as at opening.
      if (capture === undefined || (fileOf.get(capture.id) ?? file) !== file) return;
      stamps.set(file, stamp);
      const before = captures.get(capture.id);
      hold(capture, file);
      watcher?.changed(capture, before);
    });
  }

  function idOf(file: string): string | undefined {
    for (const [id, known] of fileOf) if (known === file) return id;
    return undefined;
  }

  function lookAt(names: ReadonlySet<string> | "all"): void {
    const files =
      names === "all"
        ? new Set([...fileOf.values(), ...(existsSync(folder) ? listCaptureFiles(folder) : [])])
        : [...names].map((name) => join(folder, name));
    for (const file of files) void look(file);
  }

  /** A folder that was made anew is another one for the system. */
  function watchAgain(): void {
    if (watcher === undefined) return;
    endWatch();
    endWatch = watchJsonFiles(folder, lookAt);
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
      const isKnown = captures.has(capture.id);
      const file = hold(capture);
      const task = (): Promise<void> => store(file, capture);
      const written = write(capture.id, isKnown ? () => withFileLock(file, task) : task);
      const isDue = order.length > max || Date.parse(order[0]?.receivedAt ?? "") < clock.now() - keepMs;
      const [removed] = await Promise.all([isDue ? prune(capture.id) : [], written]);
      return { removed };
    },
    async update(id, change) {
      let changed: Capture | undefined;
      await write(id, async () => {
        const file = fileOf.get(id);
        if (file === undefined) throw noCapture(id);
        await withFileLock(file, async () => {
          const held = captures.get(id);
          if (held === undefined) throw noCapture(id);
          const wanted = { ...change(await readLatest(held, file)), id };
          hold(wanted);
          await store(file, wanted).catch((error: unknown) => {
            // What was sent and answered has happened all the same; nothing else has come true.
            if (captures.get(id) === wanted) hold({ ...held, attempts: wanted.attempts });
            throw error;
          });
          changed = wanted;
        });
      });
      if (changed === undefined) throw noCapture(id);
      return changed;
    },
    async refresh(id) {
      const file = fileOf.get(id);
      if (file !== undefined) await look(file);
      return captures.get(id);
    },
    remove: async (ids) => (await remove(ids)).length,
    prune: () => prune(),
    watch(given) {
      watcher = given;
      endWatch = watchJsonFiles(folder, lookAt);
      return () => {
        watcher = undefined;
        endWatch();
      };
    },
    async flush() {
      while (writes.size > 0) await Promise.all(writes.values());
    },
  };
}

function noCapture(id: string): PigeonholeError {
  return new PigeonholeError("no_capture", `There is no capture "${id}".`);
}
