import type { Random } from "#pigeonhole/base/random.js";
import type { LogEntry } from "./log.js";

/** What becomes of that which was written and not synced when the power goes. */
export const LOSSES = ["none", "all", "subset", "torn"] as const;
/**
 * `none` of it is on the disk, `all`, a random `subset`, or a subset of which one write is there in part, sector by
 * sector.
 */
export type Loss = (typeof LOSSES)[number];

const SECTOR = 512;
const PAGE = 4096;

/**
 * `isDropped`: a sync failed on it, after which the system takes it for written; readable until the power goes, and
 * never safe.
 */
type Change = { at: number; isDropped?: boolean };
type Write = Change & { kind: "write"; offset: number; data: Buffer };
type FileChange = Write | (Change & { kind: "truncate"; size: number });
type FolderChange = { at: number; name: string; file: FileOnDisk | undefined; partOf?: FolderChange };

/** Files as a power cut may leave them: name and bytes. */
export type Files = ReadonlyMap<string, Buffer>;

/** One file: what is safe, and what was written since. It may have several names over time, or none. */
class FileOnDisk {
  #safe: Buffer = Buffer.alloc(0);
  #size = 0;
  #pending: FileChange[] = [];

  change(change: FileChange): void {
    this.#pending.push(change);
  }

  /** Everything up to there is safe. */
  sync(upTo: number): void {
    const touched = new Set<number>();
    // Backwards: a later write to the same page takes with it what lies there already.
    const isSafe = this.#pending.toReversed().map((change) => {
      const pages = pagesOf(change);
      if (change.at >= upTo || (change.isDropped === true && !pages.some((page) => touched.has(page)))) return false;
      for (const page of pages) touched.add(page);
      return true;
    });
    isSafe.reverse();
    for (const [index, change] of this.#pending.entries()) if (isSafe[index] === true) this.#apply(change);
    this.#pending = this.#pending.filter((_, index) => isSafe[index] !== true);
  }

  /** A sync of everything up to there has failed. */
  drop(upTo: number): void {
    this.#pending = this.#pending.flatMap((change) => {
      if (change.at >= upTo || change.kind === "truncate") return [change];
      return cutWrite(change, PAGE).map((part) => ({ ...part, isDropped: true }));
    });
  }

  after(loss: Loss, keeps: () => boolean, random: Random): Buffer {
    const copy = new FileOnDisk();
    copy.#safe = Buffer.from(this.#safe.subarray(0, this.#size));
    copy.#size = this.#size;
    const torn = loss === "torn" ? this.#pending[Math.floor(random() * this.#pending.length)] : undefined;
    for (const change of this.#pending) {
      if (change === torn && change.kind === "write") for (const part of tear(change, random)) copy.#apply(part);
      else if (loss === "all" || (loss !== "none" && keeps())) copy.#apply(change);
    }
    return copy.#safe.subarray(0, copy.#size);
  }

  #apply(change: FileChange): void {
    if (change.kind === "truncate") return this.#resize(change.size);
    const end = change.offset + change.data.length;
    if (end > this.#size) this.#resize(end);
    change.data.copy(this.#safe, change.offset);
  }

  /** What lies between the old end and the new one is zero. */
  #resize(size: number): void {
    if (size > this.#safe.length) {
      const larger = Buffer.alloc(Math.max(size, this.#safe.length * 2));
      this.#safe.copy(larger, 0, 0, this.#size);
      this.#safe = larger;
    }
    if (size < this.#size) this.#safe.fill(0, size, this.#size);
    this.#size = size;
  }
}

/** Some of the sectors of a write. */
function tear(write: Write, random: Random): Write[] {
  return cutWrite(write, SECTOR).filter(() => random() < 0.5);
}

/** A write as one for each unit of the disk that it touches. */
function cutWrite(write: Write, unit: number): Write[] {
  const { offset, data } = write;
  const parts: Write[] = [];
  for (let start = 0; start < data.length;) {
    const end = Math.min(data.length, start + unit - ((offset + start) % unit));
    parts.push({ ...write, offset: offset + start, data: data.subarray(start, end) });
    start = end;
  }
  return parts;
}

function pagesOf(change: FileChange): number[] {
  return change.kind === "write" ? cutWrite(change, PAGE).map(({ offset }) => Math.floor(offset / PAGE)) : [];
}

/**
 * A folder on a disk that keeps nothing unless it is told to: bytes are safe after a sync of their file, names after a
 * sync of the folder. Takes a recording entry by entry, and says at each what a power cut could leave.
 */
export class Disk {
  #at = 0;
  readonly #files = new Map<bigint, FileOnDisk>();
  readonly #folders = new Set<bigint>();
  readonly #syncs = new Map<bigint, number>();
  /** As the processes see it. */
  readonly #names = new Map<string, FileOnDisk>();
  /** As it is safe. */
  readonly #safeNames = new Map<string, FileOnDisk>();
  #pending: FolderChange[] = [];

  apply(entry: LogEntry): void {
    this.#at += 1;
    const at = this.#at;
    switch (entry.kind) {
      case "create":
        return this.#create(entry.file, entry.path);
      case "open":
        if (entry.isFolder) this.#folders.add(entry.file);
        else if (!this.#files.has(entry.file)) throw new Error(`${entry.path} was there before the recording began.`);
        return;
      case "write":
        return this.#file(entry.file).change({ at, kind: "write", offset: entry.offset, data: entry.data });
      case "truncate":
        return this.#file(entry.file).change({ at, kind: "truncate", size: entry.size });
      case "sync_begin":
        return void this.#syncs.set(entry.token, at);
      case "sync_end":
        return this.#sync(entry.file, this.#syncs.get(entry.token) ?? 0);
      case "sync_failed":
        return this.#files.get(entry.file)?.drop(this.#syncs.get(entry.token) ?? 0);
      case "unlink":
        return this.#name(entry.path, undefined);
      case "rename": {
        const file = this.#names.get(entry.path);
        const gone: FolderChange = { at, name: entry.path, file: undefined };
        this.#name(entry.to, file, gone);
        return void this.#names.delete(entry.path);
      }
      case "mark":
        return;
    }
  }

  /** The files that a power cut leaves now. */
  cut(loss: Loss, random: Random): Files {
    const share = [0.1, 0.5, 0.9][Math.floor(random() * 3)] ?? 0.5;
    const keeps = (): boolean => random() < share;
    const names = new Map(this.#safeNames);
    for (const change of this.#pending) {
      if (loss === "all" || (loss !== "none" && keeps())) rename(names, change);
    }
    return new Map([...names].map(([name, file]) => [name, file.after(loss, keeps, random)]));
  }

  #create(number: bigint, path: string): void {
    const file = new FileOnDisk();
    this.#files.set(number, file);
    this.#name(path, file);
  }

  #name(name: string, file: FileOnDisk | undefined, partOf?: FolderChange): void {
    if (file === undefined) this.#names.delete(name);
    else this.#names.set(name, file);
    this.#pending.push({ at: this.#at, name, file, ...(partOf && { partOf }) });
  }

  #sync(number: bigint, upTo: number): void {
    if (!this.#folders.has(number)) return this.#file(number).sync(upTo);
    for (const change of this.#pending) if (change.at < upTo) rename(this.#safeNames, change);
    this.#pending = this.#pending.filter(({ at }) => at >= upTo);
  }

  #file(number: bigint): FileOnDisk {
    const file = this.#files.get(number);
    if (file === undefined) throw new Error("A file was changed that was never opened.");
    return file;
  }
}

/** A rename is there whole or not at all. */
function rename(names: Map<string, FileOnDisk>, { name, file, partOf }: FolderChange): void {
  if (file === undefined) names.delete(name);
  else names.set(name, file);
  if (partOf !== undefined) rename(names, partOf);
}
