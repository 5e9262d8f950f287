import type { ErrorCode } from "../../base/error.js";
import type { NewOutboxEvent } from "../outbox.js";
import type { AcceptResult, NewEvent, SettleResult } from "../store.js";
import type { TraceContext } from "../trace-context.js";
import type { Lease, NewWork, ParkedNote, Settlement } from "../work.js";
import type { Accepted } from "./operations/accept.js";
import type { OtherCommand } from "./prepare-operations.js";

// A batch is cloned on its way to the thread and back. Cloning costs by the object and by the property name, so the
// commands that every event needs are short lists, and all bodies are one buffer that changes hands without a copy.

export const ACCEPT = 1;
export const DONE = 2;

export type AcceptCommand = [
  op: typeof ACCEPT,
  id: string,
  type: string,
  test: boolean,
  receivedAt: number,
  signedAt: number,
  bodyStart: number,
  bodyEnd: number,
  parked: ParkedNote | undefined,
  trace: TraceContext | undefined,
  token: number,
  ...work: (HandlerWord | number | undefined)[],
];

/** The name of a handler, or its work where that has more than a lease. */
type HandlerWord = string | NewWork;

export type DoneCommand = [
  op: typeof DONE,
  seq: number,
  handler: string,
  token: number,
  at: number,
  dropSteps: boolean,
  ...records: (string | number | undefined)[],
];

/** One call as data, so that it can cross to a thread. */
export type BatchCommand = AcceptCommand | DoneCommand | OtherCommand;

export function commandName(command: BatchCommand): string {
  if ("op" in command) return command.op;
  return command[0] === ACCEPT ? "accept" : "settle";
}

/** The input of a writer: commands that share one durable transaction. */
export interface Batch {
  commands: readonly BatchCommand[];
  /** Those of all accepted events, one after another. */
  bodies: Uint8Array;
}

export interface BatchResults {
  results: readonly CommandResult[];
}

/** The result of an operation. */
export type OperationResult = { ok: true; value: unknown } | Failure;

export interface Failure {
  ok: false;
  code: ErrorCode;
  message: string;
  /** The state of SQLite is uncertain: nothing more may be written. */
  breaking: boolean;
}

/** The result of a command: of `accept`, of a settlement, or of another operation. */
export type CommandResult = Accepted | SettleResult | OperationResult;

export function failureOf(result: CommandResult | undefined): Failure | undefined {
  return typeof result === "object" && "ok" in result && !result.ok ? result : undefined;
}

/** What a contact event takes in the command of a done run. */
const RECORD_WORDS = 4;

function handlerWord(work: NewWork | undefined): HandlerWord | undefined {
  return work?.newest === undefined ? work?.handler : work;
}

/** Packs commands as they come in. */
export class BatchPacker {
  readonly commands: BatchCommand[] = [];
  readonly #bodies: Uint8Array[] = [];
  bytes = 0;

  /** These give the place of the command, and so of its result. `token` is that of the first lease. */
  accept({ id, type, test, receivedAt, signedAt, body, work, parked, trace }: NewEvent, token: number): number {
    const start = this.bytes;
    this.bytes += body.byteLength;
    this.#bodies.push(body);
    // A list that grows takes three times the memory, so the first handler is there from the beginning.
    const words: AcceptCommand = [
      ACCEPT,
      id,
      type,
      test,
      receivedAt,
      signedAt,
      start,
      this.bytes,
      parked,
      trace,
      token,
      handlerWord(work[0]),
      work[0]?.leaseUntil,
    ];
    for (let index = 1; index < work.length; index += 1) words.push(handlerWord(work[index]), work[index]?.leaseUntil);
    return this.commands.push(words) - 1;
  }

  done({ seq, handler, token, at, dropSteps, records }: Settlement & { to: "done" }): number {
    const command: DoneCommand = [DONE, seq, handler, token, at, dropSteps];
    if (records === undefined) return this.commands.push(command) - 1;
    for (const { key, body, occurredAt, trace } of records) command.push(key, body, occurredAt, trace);
    return this.commands.push(command) - 1;
  }

  add(command: OtherCommand): number {
    return this.commands.push(command) - 1;
  }

  /** A copy of all bodies, in `spare` where they have room there. It may change hands. */
  joinBodies(spare?: ArrayBuffer): Uint8Array<ArrayBuffer> {
    // One that changed hands has no room at all, and is not to be used for no bodies either.
    const hasRoom = spare !== undefined && Math.max(1, this.bytes) <= spare.byteLength;
    const joined = new Uint8Array(hasRoom ? spare : new ArrayBuffer(this.bytes), 0, this.bytes);
    let offset = 0;
    for (const body of this.#bodies) {
      joined.set(body, offset);
      offset += body.byteLength;
    }
    return joined;
  }
}

export function unpackEvent(command: AcceptCommand, bodies: Uint8Array): NewEvent {
  const work: NewWork[] = [];
  for (let place = 11; place < command.length; place += 2) {
    const [handler, leaseUntil] = [command[place] as HandlerWord | undefined, command[place + 1] as number | undefined];
    if (typeof handler === "object") work.push(handler);
    else if (handler !== undefined) work.push(leaseUntil === undefined ? { handler } : { handler, leaseUntil });
  }
  return {
    id: command[1],
    type: command[2],
    test: command[3],
    receivedAt: command[4],
    signedAt: command[5],
    body: bodies.subarray(command[6], command[7]),
    parked: command[8],
    trace: command[9],
    work,
  };
}

export function unpackDone(command: DoneCommand): Settlement {
  const records: NewOutboxEvent[] = [];
  for (let place = 6; place < command.length; place += RECORD_WORDS) {
    const [key, body, occurredAt, trace] = command.slice(place, place + RECORD_WORDS);
    records.push({
      key: key as string,
      body: body as string,
      occurredAt: occurredAt as number,
      trace: trace as TraceContext | undefined,
    });
  }
  const [, seq, handler, token, at, dropSteps] = command;
  return { seq, handler, token, at, dropSteps, to: "done", records };
}

export function tokenOf(command: AcceptCommand): number {
  return command[10];
}

/** `work` and `token` are what the event was accepted with: the leases count up from it. */
export function unpackAccepted(accepted: Accepted, work: readonly NewWork[], token: number): AcceptResult {
  if (typeof accepted === "object" && "duplicate" in accepted) {
    return { kind: "duplicate", otherBytes: accepted.duplicate === "other_bytes" };
  }
  const otherBytes = typeof accepted === "object";
  const seq = otherBytes ? accepted.instead : accepted;
  const isLeased = ({ leaseUntil }: NewWork): boolean => leaseUntil !== undefined;
  const leased = work.every(isLeased) ? work : work.filter(isLeased);
  const leases = leased.map(({ handler }, place): Lease => ({ seq, handler, token: token + place }));
  return { kind: "stored", seq, leases, otherBytes };
}
