import { escapeControls } from "../../base/text.js";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type Clock, systemClock } from "../../base/clock.js";
import { DAY } from "../../base/duration.js";
import { PigeonholeError } from "../../base/error.js";
import { type OptionsOf, defineOptions, given, wholeNumber } from "../../base/options.js";
import type { Capture } from "../model/capture.js";
import { isCaptureId } from "../model/capture-id.js";
import { bodySize } from "../model/captured-body.js";
import { type BrokenFile, listCaptureFiles, readCaptureFile, stampOf, writeCaptureFile } from "./capture-files.js";
import { withFileLock } from "./file-lock.js";
import { insertByTime, byTime, loadFolder, makeFolder } from "./load-folder.js";
import { watchJsonFiles } from "./watch-files.js";

export interface CaptureFolderOptions {
  /** Maximum number of captures that are kept. The oldest are deleted first, pinned ones never. @default 1,000 */
  max?: number;
  /** Maximum size of all bodies together, in bytes, with a little for the rest of each capture. @default 256 MiB */
  maxBytes?: number;
  /** How long captures are kept, in milliseconds. Pinned ones are never deleted. @default 7 days */
  keepMs?: number;
  /** True for a capture that must be kept despite the limits, as a pinned one is. @default none */
  mustStay?: (capture: Capture) => boolean;
  /** The time that `keepMs` compares. @default the machine's */
  clock?: Clock;
}

/** The defaults and checks of {@link CaptureFolderOptions}. */
export const CAPTURE_FOLDER_OPTIONS = defineOptions("openCaptureFolder", {
  max: wholeNumber({ default: 1_000, min: 1 }),
  maxBytes: wholeNumber({ default: 256 * 1024 * 1024, min: 1 }),
  keepMs: wholeNumber({ default: 7 * DAY, min: 1 }),
  mustStay: given<(capture: Capture) => boolean>({ default: () => false }),
  clock: given<Clock>({ default: systemClock }),
} satisfies OptionsOf<CaptureFolderOptions>);

/** Receives the changes that other processes make in a folder. */
export interface FolderWatcher {
  /** A capture is new or was changed; `before` is its last known state. */
  changed(capture: Capture, before: Capture | undefined): void;
  removed(ids: string[]): void;
}

/**
 * Captures on disk, one JSON file each, with all of them but long bodies in memory. Several processes may write to one
 * folder: a change applies to the file as it is on disk then, and `watch` reads the changes of other processes.
 */
export interface CaptureFolder {
  /** Folder of the capture files. */
  readonly path: string;
  readonly size: number;
  /** Files found at opening that are not captures. */
  readonly broken: readonly BrokenFile[];
  /** Newest first. */
  list(): Capture[];
  get(id: string): Capture | undefined;
  /**
   * Stores a capture, in place of one with the same id. Once it is on disk, resolves with the ids that were deleted for
   * the limits.
   */
  add(capture: Capture): Promise<{ removed: string[] }>;
  /**
   * Changes a capture as it is on disk now; changes of one capture take effect in the order of the calls. Rejects with
   * `no_capture`, also when another process has deleted it, and with `invalid_capture` when its file is no longer a
   * capture.
   */
  update(id: string, change: (capture: Capture) => Capture): Promise<Capture>;
  /** Reads a capture from disk again. Resolves with it, or with undefined if it was deleted. */
  refresh(id: string): Promise<Capture | undefined>;
  /** Deletes captures, pinned ones too. Resolves with the number deleted. */
  remove(ids: readonly string[]): Promise<number>;
  /** Follows the changes of other processes until the returned function is called. */
  watch(watcher: FolderWatcher): () => void;
  /** Resolves once everything asked for so far is on disk. */
  flush(): Promise<void>;
}

/**
 * Opens the folder `captures` in `path` (such as `.pigeonhole`), and creates both if needed: mode 0700, with a
 * `.gitignore` for everything in `path`, since captured deliveries contain personal data. Files that cannot be read are
 * listed in `broken`.
 */
export function openCaptureFolder(path: string, options: CaptureFolderOptions = {}): CaptureFolder {
  const { max, maxBytes, keepMs, mustStay, clock } = CAPTURE_FOLDER_OPTIONS.resolve(options);
  const folder = makeFolder(path);
  const { captures, fileOf, stamps, broken } = loadFolder(folder);
  /** Oldest first, so that a new one is appended. */
  let order = [...captures.values()].toSorted(byTime);
  let bytes = order.reduce((sum, capture) => sum + bytesOf(capture), 0);
  /** The last unfinished write of each capture. */
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

  /** Keeps a capture in memory. Returns its file. */
  function remember(capture: Capture, file = join(folder, `${capture.id}.json`)): string {
    const { id } = capture;
    const old = captures.get(id);
    captures.set(id, capture);
    bytes += bytesOf(capture) - (old === undefined ? 0 : bytesOf(old));
    if (old?.receivedAt === capture.receivedAt) order[order.indexOf(old)] = capture;
    else insertByTime(order, capture, old);
    const place = fileOf.get(id) ?? file;
    fileOf.set(id, place);
    return place;
  }

  function forget(gone: ReadonlySet<string>): void {
    for (const capture of order) if (gone.has(capture.id)) bytes -= bytesOf(capture);
    order = order.filter(({ id }) => !gone.has(id));
    for (const id of gone) {
      captures.delete(id);
      fileOf.delete(id);
    }
  }

  async function store(file: string, capture: Capture): Promise<void> {
    await writeCaptureFile(file, capture).catch(async (error: NodeJS.ErrnoException) => {
      // The whole folder was deleted, to start empty. It is created again only if the project still exists.
      if (error.code !== "ENOENT" || !existsSync(dirname(path))) throw error;
      makeFolder(path);
      watchAgain();
      await writeCaptureFile(file, capture);
    });
    stamps.set(file, await stampOf(file));
  }

  /** The capture on disk for one in memory: the same object unless another process has written. */
  async function readLatest(known: Capture, file: string): Promise<Capture> {
    const stamp = await stampOf(file);
    if (stamp === stamps.get(file)) return known;
    if (stamp !== undefined) {
      const latest = await readCaptureFile(file);
      watcher?.changed(latest, known);
      return latest;
    }
    stamps.delete(file);
    forget(new Set([known.id]));
    watcher?.removed([known.id]);
    throw noCapture(known.id);
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

  /** The newest is kept, even if pinned ones fill the limit: its sender is told that it is stored. */
  function prune(newest: string): Promise<string[]> {
    const oldest = clock.now() - keepMs;
    const free = order.filter((capture) => !capture.pinned && !mustStay(capture));
    let kept = 0;
    const isTooMuch = (capture: Capture): boolean => (kept += bytesOf(capture)) > maxBytes;
    const over = Math.max(order.length - max, order.findLastIndex(isTooMuch) + 1);
    const isOver = (id: string, index: number): boolean => index < over && id !== newest;
    return remove(
      free
        .filter(({ id, receivedAt }, index) => isOver(id, index) || Date.parse(receivedAt) < oldest)
        .map(({ id }) => id),
    );
  }

  /** Reads a change that another process made to a file. */
  function refreshFile(file: string): Promise<void> {
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
      // The file may be half edited by hand. It is read once it is a capture again.
      const capture = await readCaptureFile(file).catch(() => undefined);
      // A second file of one capture is ignored, as at opening.
      if (capture === undefined || (fileOf.get(capture.id) ?? file) !== file) return;
      stamps.set(file, stamp);
      const before = captures.get(capture.id);
      remember(capture, file);
      watcher?.changed(capture, before);
    });
  }

  function idOf(file: string): string | undefined {
    for (const [id, known] of fileOf) if (known === file) return id;
    return undefined;
  }

  function refreshFiles(names: ReadonlySet<string> | "all"): void {
    const files =
      names === "all"
        ? new Set([...fileOf.values(), ...(existsSync(folder) ? listCaptureFiles(folder) : [])])
        : [...names].map((name) => join(folder, name));
    for (const file of files) void refreshFile(file);
  }

  /** The system does not report changes in a folder that was deleted and created again. */
  function watchAgain(): void {
    if (watcher === undefined) return;
    endWatch();
    endWatch = watchJsonFiles(folder, refreshFiles);
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
      const file = remember(capture);
      const task = (): Promise<void> => store(file, capture);
      const written = write(capture.id, isKnown ? () => withFileLock(file, task) : task);
      const isDue =
        order.length > max || bytes > maxBytes || Date.parse(order[0]?.receivedAt ?? "") < clock.now() - keepMs;
      const [removed] = await Promise.all([isDue ? prune(capture.id) : [], written]);
      return { removed };
    },
    async update(id, change) {
      let changed: Capture | undefined;
      await write(id, async () => {
        const file = fileOf.get(id);
        if (file === undefined) throw noCapture(id);
        await withFileLock(file, async () => {
          const known = captures.get(id);
          if (known === undefined) throw noCapture(id);
          const wanted = { ...change(await readLatest(known, file)), id };
          remember(wanted);
          await store(file, wanted).catch((error: unknown) => {
            // The attempts did happen, so keep them. Undo every other change.
            if (captures.get(id) === wanted) remember({ ...known, attempts: wanted.attempts });
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
      if (file !== undefined) await refreshFile(file);
      return captures.get(id);
    },
    remove: async (ids) => (await remove(ids)).length,
    watch(given) {
      watcher = given;
      endWatch = watchJsonFiles(folder, refreshFiles);
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

/** Around its bodies a capture takes about so much, mostly for headers. */
const REST_BYTES = 4 * 1024;

function bytesOf({ request, attempts }: Capture): number {
  const bodies = [request.body, ...attempts.flatMap(({ body, sentBody }) => [body, sentBody])];
  return bodies.reduce((sum, body) => sum + (body === null ? 0 : bodySize(body)), REST_BYTES);
}

function noCapture(id: string): PigeonholeError {
  return new PigeonholeError("no_capture", `There is no capture "${escapeControls(id)}".`);
}
