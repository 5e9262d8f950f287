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
import { type BrokenFile, listCaptureFiles, readCaptureFile, stampOf, writeCaptureFile } from "./capture-files.js";
import { withFileLock } from "./file-lock.js";
import { bytesOf, insertByTime, byTime, loadFolder, makeFolder } from "./load-folder.js";
import { watchJsonFiles } from "./watch-files.js";

export interface CaptureFolderOptions {
  /** Maximum number of captures that are kept. The oldest are deleted first, pinned ones never. @default 1,000 */
  max?: number;
  /** Maximum size of all bodies together, in bytes, with a little for the rest of each capture. @default 256 MiB */
  maxBytes?: number;
  /** How long captures are kept, in milliseconds. Pinned ones are never deleted. @default 7 days */
  keepMs?: number;
  /** The time that `keepMs` compares. @default the machine's */
  clock?: Clock;
}

/** The defaults and checks of {@link CaptureFolderOptions}. */
export const CAPTURE_FOLDER_OPTIONS = defineOptions("openCaptureFolder", {
  max: wholeNumber({ default: 1_000, min: 1 }),
  maxBytes: wholeNumber({ default: 256 * 1024 * 1024, min: 1 }),
  keepMs: wholeNumber({ default: 7 * DAY, min: 1 }),
  clock: given<Clock>({ default: systemClock }),
} satisfies OptionsOf<CaptureFolderOptions>);

/** Receives the changes that other processes make in a folder. */
export interface FolderWatcher {
  /** A capture is new or was changed; `before` is its last known state. */
  changed(capture: Capture, before: Capture | undefined): void;
  removed(ids: string[]): void;
}

/**
 * Opens the folder `captures` in `path` (such as `.pigeonhole`), and creates both if needed: mode 0700, with a
 * `.gitignore` for everything in `path`, since captured deliveries contain personal data. Files that cannot be read are
 * listed in `broken`.
 */
export function openCaptureFolder(path: string, options: CaptureFolderOptions = {}): CaptureFolder {
  return new CaptureFolder(path, CAPTURE_FOLDER_OPTIONS.resolve(options));
}

/**
 * Captures on disk, one JSON file each, with all of them but long bodies in memory. Several processes may write to one
 * folder: a change applies to the file as it is on disk then, and `watch` reads the changes of other processes.
 */
export class CaptureFolder {
  /** Folder of the capture files. */
  readonly path: string;
  /** Files found at opening that are not captures. */
  readonly broken: readonly BrokenFile[];
  readonly #given: string;
  readonly #options: Required<CaptureFolderOptions>;
  readonly #captures: Map<string, Capture>;
  readonly #fileOf: Map<string, string>;
  readonly #stamps: Map<string, string | undefined>;
  /** The last unfinished write of each capture. */
  readonly #writes = new Map<string, Promise<void>>();
  /** Oldest first, so that a new one is appended. */
  #order: Capture[];
  #bytes: number;
  #watcher: FolderWatcher | undefined;
  #endWatch = (): void => undefined;

  constructor(path: string, options: Required<CaptureFolderOptions>) {
    this.#given = path;
    this.#options = options;
    this.path = makeFolder(path);
    const { captures, fileOf, stamps, broken } = loadFolder(this.path);
    this.broken = broken;
    this.#captures = captures;
    this.#fileOf = fileOf;
    this.#stamps = stamps;
    this.#order = [...captures.values()].toSorted(byTime);
    this.#bytes = this.#order.reduce((sum, capture) => sum + bytesOf(capture), 0);
  }

  get size(): number {
    return this.#captures.size;
  }

  /** Newest first. */
  list(): Capture[] {
    return this.#order.toReversed();
  }

  get(id: string): Capture | undefined {
    return this.#captures.get(id);
  }

  /**
   * Stores a capture, in place of one with the same id. Once it is on disk, resolves with the ids that were deleted for
   * the limits.
   */
  async add(capture: Capture): Promise<{ removed: string[] }> {
    if (!isCaptureId(capture.id)) {
      throw new PigeonholeError("invalid_capture", "The id of a capture must be letters, digits, _ and - only.");
    }
    const { max, maxBytes, keepMs, clock } = this.#options;
    const isKnown = this.#captures.has(capture.id);
    const file = this.#remember(capture);
    const task = (): Promise<void> => this.#store(file, capture);
    const written = this.#write(capture.id, isKnown ? () => withFileLock(file, task) : task);
    const oldest = Date.parse(this.#order[0]?.receivedAt ?? "");
    const isDue = this.#order.length > max || this.#bytes > maxBytes || oldest < clock.now() - keepMs;
    const [removed] = await Promise.all([isDue ? this.#prune(capture.id) : [], written]);
    return { removed };
  }

  /**
   * Changes a capture as it is on disk now; changes of one capture take effect in the order of the calls. Rejects with
   * `no_capture`, also when another process has deleted it, and with `invalid_capture` when its file is no longer a
   * capture.
   */
  async update(id: string, change: (capture: Capture) => Capture): Promise<Capture> {
    let changed: Capture | undefined;
    await this.#write(id, async () => {
      const file = this.#fileOf.get(id);
      if (file === undefined) throw noCapture(id);
      await withFileLock(file, async () => {
        const known = this.#captures.get(id);
        if (known === undefined) throw noCapture(id);
        const wanted = { ...change(await this.#readLatest(known, file)), id };
        this.#remember(wanted);
        await this.#store(file, wanted).catch((error: unknown) => {
          // The attempts did happen, so keep them. Undo every other change.
          if (this.#captures.get(id) === wanted) this.#remember({ ...known, attempts: wanted.attempts });
          throw error;
        });
        changed = wanted;
      });
    });
    if (changed === undefined) throw noCapture(id);
    return changed;
  }

  /** Deletes captures, pinned ones too. Resolves with the number deleted. */
  async remove(ids: readonly string[]): Promise<number> {
    return (await this.#remove(ids)).length;
  }

  /** Follows the changes of other processes until the returned function is called. */
  watch(watcher: FolderWatcher): () => void {
    this.#watcher = watcher;
    this.#watchAgain();
    return () => {
      this.#watcher = undefined;
      this.#endWatch();
    };
  }

  /** Resolves once everything asked for so far is on disk. */
  async flush(): Promise<void> {
    while (this.#writes.size > 0) await Promise.all(this.#writes.values());
  }

  #write(id: string, task: () => Promise<void>): Promise<void> {
    const writes = this.#writes;
    const written = (writes.get(id) ?? Promise.resolve()).catch(() => undefined).then(task);
    writes.set(id, written);
    const forget = (): void => void (writes.get(id) === written && writes.delete(id));
    written.then(forget, forget);
    return written;
  }

  /** Keeps a capture in memory. Returns its file. */
  #remember(capture: Capture, file = join(this.path, `${capture.id}.json`)): string {
    const { id } = capture;
    const old = this.#captures.get(id);
    this.#captures.set(id, capture);
    this.#bytes += bytesOf(capture) - (old === undefined ? 0 : bytesOf(old));
    if (old?.receivedAt === capture.receivedAt) this.#order[this.#order.indexOf(old)] = capture;
    else insertByTime(this.#order, capture, old);
    const place = this.#fileOf.get(id) ?? file;
    this.#fileOf.set(id, place);
    return place;
  }

  #forget(gone: ReadonlySet<string>): void {
    for (const capture of this.#order) if (gone.has(capture.id)) this.#bytes -= bytesOf(capture);
    this.#order = this.#order.filter(({ id }) => !gone.has(id));
    for (const id of gone) {
      this.#captures.delete(id);
      this.#fileOf.delete(id);
    }
  }

  async #store(file: string, capture: Capture): Promise<void> {
    await writeCaptureFile(file, capture).catch(async (error: NodeJS.ErrnoException) => {
      // The whole folder was deleted, to start empty. It is created again only if the project still exists.
      if (error.code !== "ENOENT" || !existsSync(dirname(this.#given))) throw error;
      makeFolder(this.#given);
      this.#watchAgain();
      await writeCaptureFile(file, capture);
    });
    this.#stamps.set(file, await stampOf(file));
  }

  /** The capture on disk for one in memory: the same object unless another process has written. */
  async #readLatest(known: Capture, file: string): Promise<Capture> {
    const stamp = await stampOf(file);
    if (stamp === this.#stamps.get(file)) return known;
    if (stamp !== undefined) {
      const latest = await readCaptureFile(file);
      this.#watcher?.changed(latest, known);
      return latest;
    }
    this.#stamps.delete(file);
    this.#forget(new Set([known.id]));
    this.#watcher?.removed([known.id]);
    throw noCapture(known.id);
  }

  async #remove(ids: readonly string[]): Promise<string[]> {
    const gone = new Set(ids.filter((id) => this.#captures.has(id)));
    if (gone.size === 0) return [];
    const files = [...gone].map((id) => ({ id, file: this.#fileOf.get(id) ?? "" }));
    this.#forget(gone);
    const removed = files.map(({ id, file }) =>
      this.#write(id, () =>
        withFileLock(file, async () => {
          await rm(file, { force: true });
          this.#stamps.delete(file);
        }),
      ),
    );
    await Promise.all(removed);
    return [...gone];
  }

  /** The newest is kept, even if pinned ones fill the limit: its sender is told that it is stored. */
  #prune(newest: string): Promise<string[]> {
    const { max, maxBytes, keepMs, clock } = this.#options;
    const order = this.#order;
    const oldest = clock.now() - keepMs;
    const free = order.filter((capture) => !capture.pinned);
    let kept = 0;
    const isTooMuch = (capture: Capture): boolean => (kept += bytesOf(capture)) > maxBytes;
    const over = Math.max(order.length - max, order.findLastIndex(isTooMuch) + 1);
    const isOver = (id: string, index: number): boolean => index < over && id !== newest;
    return this.#remove(
      free
        .filter(({ id, receivedAt }, index) => isOver(id, index) || Date.parse(receivedAt) < oldest)
        .map(({ id }) => id),
    );
  }

  /** Reads a change that another process made to a file. */
  #refreshFile(file: string): Promise<void> {
    const own = basename(file, ".json");
    const id = this.#fileOf.get(own) === file ? own : [...this.#fileOf].find(([, known]) => known === file)?.[0];
    return this.#write(id ?? file, async () => {
      const stamp = await stampOf(file);
      if (stamp === this.#stamps.get(file)) return;
      if (stamp === undefined) {
        this.#stamps.delete(file);
        if (id === undefined || this.#fileOf.get(id) !== file) return;
        this.#forget(new Set([id]));
        this.#watcher?.removed([id]);
        return;
      }
      // The file may be half edited by hand. It is read once it is a capture again.
      const capture = await readCaptureFile(file).catch(() => undefined);
      // A second file of one capture is ignored, as at opening.
      if (capture === undefined || (this.#fileOf.get(capture.id) ?? file) !== file) return;
      this.#stamps.set(file, stamp);
      const before = this.#captures.get(capture.id);
      this.#remember(capture, file);
      this.#watcher?.changed(capture, before);
    });
  }

  #refreshFiles(names: ReadonlySet<string> | "all"): void {
    const files =
      names === "all"
        ? new Set([...this.#fileOf.values(), ...(existsSync(this.path) ? listCaptureFiles(this.path) : [])])
        : [...names].map((name) => join(this.path, name));
    for (const file of files) void this.#refreshFile(file);
  }

  /** Begins again when the folder was deleted and created again: the system does not report changes in that one. */
  #watchAgain(): void {
    if (this.#watcher === undefined) return;
    this.#endWatch();
    this.#endWatch = watchJsonFiles(this.path, (names) => this.#refreshFiles(names));
  }
}

function noCapture(id: string): PigeonholeError {
  return new PigeonholeError("no_capture", `There is no capture "${escapeControls(id)}".`);
}
