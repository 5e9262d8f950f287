import { readFileSync } from "node:fs";

/** The numbers are those of the shim. */
const KINDS = [
  "",
  "create",
  "open",
  "write",
  "truncate",
  "sync_begin",
  "sync_end",
  "unlink",
  "rename",
  "mark",
  "unsupported",
  "sync_failed",
] as const;

const HEADER = 32;
const MARK = 9;

/** One change to a watched folder, or a mark that a process or the harness has put among them. */
export type LogEntry =
  | { kind: "create" | "open"; file: bigint; path: string; isFolder: boolean }
  | { kind: "write"; file: bigint; offset: number; data: Buffer }
  | { kind: "truncate"; file: bigint; size: number }
  | { kind: "sync_begin" | "sync_end" | "sync_failed"; file: bigint; token: bigint }
  | { kind: "unlink"; path: string }
  | { kind: "rename"; path: string; to: string }
  | { kind: "mark"; mark: Mark };

/** What happened outside of the disk. */
export type Mark =
  /** The receiver has decided to answer a delivery 200. */
  | { what: "answered"; eventId: string }
  /** A call has arrived at the API. */
  | { what: "called"; path: string; key: string; body: string };

/** The record of a mark, to be appended to a log in one write. */
export function encodeMark(mark: Mark): Buffer {
  const data = Buffer.from(JSON.stringify(mark));
  const record = Buffer.alloc(HEADER + data.length);
  record.writeUInt32LE(record.length, 0);
  record.writeUInt32LE(MARK, 4);
  record.writeUInt32LE(data.length, 28);
  data.copy(record, HEADER);
  return record;
}

/** Reads a whole log. Throws when the processes did something that the shim cannot record. */
export function readLog(path: string): LogEntry[] {
  const bytes = readFileSync(path);
  const entries: LogEntry[] = [];
  for (let at = 0; at < bytes.length; at += bytes.readUInt32LE(at)) entries.push(decode(bytes, at));
  return entries;
}

function decode(bytes: Buffer, at: number): LogEntry {
  const kind = KINDS[bytes.readUInt32LE(at + 4)];
  const file = bytes.readBigUInt64LE(at + 8);
  const number = bytes.readBigInt64LE(at + 16);
  const dataAt = at + HEADER + bytes.readUInt32LE(at + 24);
  const path = bytes.toString("utf8", at + HEADER, dataAt);
  const data = bytes.subarray(dataAt, dataAt + bytes.readUInt32LE(at + 28));
  switch (kind) {
    case "create":
    case "open":
      return { kind, file, path, isFolder: number === 1n };
    case "write":
      return { kind, file, offset: Number(number), data };
    case "truncate":
      return { kind, file, size: Number(number) };
    case "sync_begin":
    case "sync_end":
    case "sync_failed":
      return { kind, file, token: number };
    case "unlink":
      return { kind, path };
    case "rename":
      return { kind, path, to: data.toString() };
    case "mark":
      return { kind, mark: JSON.parse(data.toString()) as Mark };
    case "":
    case "unsupported":
    case undefined:
    default:
      throw new Error(`The recording has a hole: ${path}.`);
  }
}
