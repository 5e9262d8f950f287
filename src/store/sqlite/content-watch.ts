import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { endianness } from "node:os";
import type { OwnLocks } from "./own-locks.js";

// Prevents: commits are acknowledged into a file that another program has truncated or overwritten in place. Shown in
// test/store/sqlite/content-watch.test.ts and test/store/sqlite-files-taken.process.test.ts.
//
// In WAL mode the database file changes only in checkpoints, and SQLite counts those in the shared memory, whichever
// process runs them. So another program has written to the file when its header or its length changes without one. The
// layout of the shared memory and of the WAL is documented: https://sqlite.org/walformat.html

const HEADER_BYTES = 100;
/** Two copies of the state of the WAL, then the state of the checkpoints. */
const INDEX_BYTES = 136;
const INDEX_COPY_BYTES = 48;
const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** Where the WAL's header and the header of each frame have the salts. */
const WAL_SALTS_AT = 16;
const FRAME_SALTS_AT = 8;
const SALTS_BYTES = 8;

/** A process writes both copies within microseconds, unless it is interrupted between them. */
const INDEX_READINGS = 20;
/** On a busy machine it may be interrupted for long; nothing is acknowledged beside a changed head until it is done. */
const INDEX_WAITS = 100;
const INDEX_WAIT_MS = 1;

const NEVER_WOKEN = new Int32Array(new SharedArrayBuffer(4));

/** The beginning and the length of the database file. */
interface Head {
  bytes: Buffer;
  length: number;
}

/** What SQLite notes about the WAL in the shared memory. */
interface WalIndex {
  /** The length of the header and the committed frames; 0 without frames. */
  walBytes: number;
  frameBytes: number;
  /** Chosen when the WAL is begun again, and written into its header as well. */
  salts: Buffer;
  /** How far checkpoints have written, and how far they have meant to: the same when none is in progress. */
  written: number;
  attempted: number;
}

/** The file whose content another program has changed. */
export type ChangedContent = "database" | "wal";

/**
 * Detects that the database or its WAL was truncated or overwritten in place, which leaves the files their identity. It
 * reads the database through SQLite's own handle, as closing another one would end the locks. Not detected: a change
 * that leaves header and length of the database as they are, one in the middle of the WAL, and one during a checkpoint
 * or followed by one before the next check.
 */
export class ContentWatch {
  readonly #database: number;
  readonly #sharedMemory: number;
  readonly #walPath: string;
  /** The index was read before the head, so that it is the older one. */
  #seen: { index: WalIndex | undefined; head: Head };

  constructor({ database: [database = -1], sharedMemory: [sharedMemory = -1] }: OwnLocks, walPath: string) {
    this.#database = database;
    this.#sharedMemory = sharedMemory;
    this.#walPath = walPath;
    this.#seen = { index: this.#readIndex(), head: this.#readHead() };
  }

  /** A failing disk, or no free handle, is no change; SQLite reports the one, and the next check comes soon. */
  changed(): ChangedContent | undefined {
    try {
      return this.#findChange();
    } catch {
      return undefined;
    }
  }

  #findChange(): ChangedContent | undefined {
    const before = this.#seen;
    const index = this.#readIndex();
    const head = this.#readHead();
    if (!isSameHead(before.head, head)) {
      const after = this.#awaitIndex();
      // A process died or stands still in its commit. Compared again at the next check, with what was seen before.
      if (after === undefined) return undefined;
      if (!mayHaveWritten(before.index, after)) return "database";
    }
    if (!this.#isWalWhole(before.index, index)) return "wal";
    // Not after a change, so that later checks find it as well. An older index stays older than the head.
    this.#seen = { index: index ?? before.index, head };
    return undefined;
  }

  #isWalWhole(before: WalIndex | undefined, index: WalIndex | undefined): boolean {
    if (index === undefined || index.walBytes === 0 || isOfWal(this.#walPath, before, index)) return true;
    // Another process may have begun the WAL again since the index was read.
    const now = this.#readIndex();
    return now === undefined || now.walBytes < index.walBytes || !now.salts.equals(index.salts);
  }

  #readHead(): Head {
    const bytes = Buffer.alloc(HEADER_BYTES);
    readSync(this.#database, bytes, 0, HEADER_BYTES, 0);
    return { bytes, length: fstatSync(this.#database).size };
  }

  /** Undefined if a process was writing it at each reading: every commit on any connection does. */
  #readIndex(): WalIndex | undefined {
    for (let reading = 0; reading < INDEX_READINGS; reading += 1) {
      const index = this.#readIndexOnce();
      if (index !== undefined) return index;
    }
    return undefined;
  }

  /** Blocks for a tenth of a second at most. */
  #awaitIndex(): WalIndex | undefined {
    let index = this.#readIndex();
    for (let waits = 0; index === undefined && waits < INDEX_WAITS; waits += 1) {
      Atomics.wait(NEVER_WOKEN, 0, 0, INDEX_WAIT_MS);
      index = this.#readIndex();
    }
    return index;
  }

  #readIndexOnce(): WalIndex | undefined {
    const bytes = Buffer.alloc(INDEX_BYTES);
    readSync(this.#sharedMemory, bytes, 0, INDEX_BYTES, 0);
    const copy = bytes.subarray(INDEX_COPY_BYTES, 2 * INDEX_COPY_BYTES);
    if (!bytes.subarray(0, INDEX_COPY_BYTES).equals(copy)) return undefined;
    const frames = readNative(bytes, 16, 4);
    const frameBytes = FRAME_HEADER_BYTES + pageBytesOf(readNative(bytes, 14, 2));
    return {
      walBytes: frames === 0 ? 0 : WAL_HEADER_BYTES + frames * frameBytes,
      frameBytes,
      salts: bytes.subarray(32, 40),
      written: readNative(bytes, 96, 4),
      attempted: readNative(bytes, 128, 4),
    };
  }
}

function isSameHead(one: Head, other: Head): boolean {
  return one.length === other.length && one.bytes.equals(other.bytes);
}

/** Whether a checkpoint may have changed the database between two readings. */
function mayHaveWritten(before: WalIndex | undefined, after: WalIndex): boolean {
  if (before === undefined) return true;
  const isInProgress = after.attempted !== after.written;
  return isInProgress || before.written !== after.written || !before.salts.equals(after.salts);
}

/**
 * Whether the file is as long as the index says, begins as it does, and still has the last frame of the index before. A
 * commit into a truncated file makes it long again, with a hole. SQLite has no lock on the file that a close ends.
 */
function isOfWal(path: string, before: WalIndex | undefined, { walBytes, salts }: WalIndex): boolean {
  const handle = openSync(path, "r");
  try {
    if (fstatSync(handle).size < walBytes || !readSalts(handle, WAL_SALTS_AT).equals(salts)) return false;
    if (before === undefined || before.walBytes === 0 || !before.salts.equals(salts)) return true;
    return readSalts(handle, before.walBytes - before.frameBytes + FRAME_SALTS_AT).equals(salts);
  } finally {
    closeSync(handle);
  }
}

function readSalts(handle: number, at: number): Buffer {
  const salts = Buffer.alloc(SALTS_BYTES);
  readSync(handle, salts, 0, SALTS_BYTES, at);
  return salts;
}

/** The shared memory is in the byte order of the machine. */
function readNative(bytes: Buffer, at: number, length: number): number {
  return endianness() === "LE" ? bytes.readUIntLE(at, length) : bytes.readUIntBE(at, length);
}

/** 65,536 does not fit into two bytes; its lowest bit stands for it. */
function pageBytesOf(noted: number): number {
  return noted === 1 ? 65_536 : noted;
}
