import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";

/**
 * Most work in one turn of the event loop, in chunks. One read of 64 KB can hold ten thousand chunks of a byte, which
 * take Node 20 ms and cannot be interrupted; two such reads in a turn would be too many.
 */
const MAX_CHUNKS = 1_000;

/** So many bytes take about as long as handing out one chunk. */
const BYTES_PER_CHUNK = 8 * 1024;

/** Connections of every server in this process: it is not known in advance which of them send many small chunks. */
const connections = new Set<Socket>();
/** Those that wait to be read again. */
const waiting = new Set<Socket>();
/** Those that wait behind all others, since they caused too much work when they were last read. */
const waitingBehind = new Set<Socket>();
const busy = new WeakSet<Socket>();
/** The one that is read in this turn. */
let current: Socket | undefined;
let isWatching = false;
/** Work of this turn, in chunks. */
let chunksInTurn = 0;

/** Watches the connections that servers of this process accept from now on. */
export function watchConnections(): void {
  if (isWatching) return;
  isWatching = true;
  subscribe("net.server.socket", (message) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Node documents what this channel carries
    watchConnection((message as { socket: Socket }).socket);
  });
}

/** Watches a connection that {@link watchConnections} does not report, such as the decrypted side of one. */
export function watchConnection(connection: Socket): void {
  if (connections.has(connection)) return;
  connections.add(connection);
  connection.once("close", () => {
    connections.delete(connection);
    waiting.delete(connection);
    waitingBehind.delete(connection);
  });
}

/**
 * Counts bytes that were read in one chunk. After too much work in a turn, each turn reads only one connection, until
 * every connection was read.
 */
export function countRead(bytes: number): void {
  countWork(1 + bytes / BYTES_PER_CHUNK);
}

/** Counts a body that is not read: the part received together with its headers may have been many chunks. */
export function countUnread(): void {
  countWork(MAX_CHUNKS);
}

function countWork(chunks: number): void {
  if (chunksInTurn === 0 && current === undefined) setImmediate(beginTurn);
  const before = chunksInTurn;
  chunksInTurn += chunks;
  if (before >= MAX_CHUNKS || chunksInTurn < MAX_CHUNKS) return;
  if (current !== undefined) busy.add(current);
  for (const connection of connections) pause(connection);
}

function pause(connection: Socket): void {
  // A connection that other code paused is resumed by that code.
  if (connection.isPaused() || connection.readableFlowing === null) return;
  (busy.has(connection) ? waitingBehind : waiting).add(connection);
  connection.pause();
  // A request that is read ahead resumes its connection.
  connection.off("resume", pauseAgain).on("resume", pauseAgain);
}

function pauseAgain(this: Socket): void {
  this.pause();
}

function beginTurn(): void {
  if (current !== undefined && chunksInTurn < MAX_CHUNKS) busy.delete(current);
  chunksInTurn = 0;
  current = takeFirst(waiting) ?? takeFirst(waitingBehind);
  if (current === undefined) return;
  current.off("resume", pauseAgain).resume();
  setImmediate(beginTurn);
}

function takeFirst(line: Set<Socket>): Socket | undefined {
  const [first] = line;
  if (first !== undefined) line.delete(first);
  return first;
}
