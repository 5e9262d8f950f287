import type { NewOutboxEvent } from "../outbox.js";
import type { AcceptResult, NewEvent } from "../store.js";
import type { Lease, NewWork, ParkedNote, Settlement } from "../work.js";
import type { Command, CommandResult } from "./inbox-database.js";

// A batch is cloned on its way to the thread and back. Cloning costs by the object and by the property name, so what every
// event passes through travels as short lists, and all bodies as one buffer that changes hands without a copy.

type PackedAccept = [
  id: string,
  type: string,
  test: boolean,
  receivedAt: number,
  signedAt: number,
  bodyLength: number,
  parked: ParkedNote | undefined,
  ...work: (string | number | undefined)[],
];

type PackedSettle = [
  seq: number,
  handler: string,
  token: number,
  at: number,
  dropSteps: boolean,
  ...records: (string | number)[],
];

type PackedCommand = { accept: PackedAccept } | { done: PackedSettle } | { other: Command };

export interface PackedBatch {
  ended: readonly Lease[];
  commands: PackedCommand[];
  bodies: Uint8Array<ArrayBuffer>;
}

export function packBatch(commands: readonly Command[], ended: readonly Lease[]): PackedBatch {
  let size = 0;
  for (const command of commands) if (command.op === "accept") size += command.input.body.byteLength;
  const bodies = new Uint8Array(size);
  let offset = 0;
  const packed = commands.map((command): PackedCommand => {
    if (command.op === "settle" && command.input.to === "done") return { done: packDone(command.input) };
    if (command.op !== "accept") return { other: command };
    const event = command.input;
    bodies.set(event.body, offset);
    offset += event.body.byteLength;
    return { accept: packEvent(event) };
  });
  return { ended, commands: packed, bodies };
}

export function unpackBatch({ commands, bodies }: PackedBatch): Command[] {
  let offset = 0;
  return commands.map((packed): Command => {
    if ("other" in packed) return packed.other;
    if ("done" in packed) return { op: "settle", input: unpackDone(packed.done) };
    const length = packed.accept[5];
    const body = bodies.subarray(offset, offset + length);
    offset += length;
    return { op: "accept", input: unpackEvent(packed.accept, body) };
  });
}

function packEvent(event: NewEvent): PackedAccept {
  const { id, type, test, receivedAt, signedAt, parked } = event;
  const packed: PackedAccept = [id, type, test, receivedAt, signedAt, event.body.byteLength, parked];
  for (const { handler, leaseUntil } of event.work) packed.push(handler, leaseUntil);
  return packed;
}

function unpackEvent(packed: PackedAccept, body: Uint8Array): NewEvent {
  const [id, type, test, receivedAt, signedAt, , parked, ...pairs] = packed;
  const work: NewWork[] = [];
  for (let index = 0; index < pairs.length; index += 2) {
    const [handler, leaseUntil] = [pairs[index] as string, pairs[index + 1] as number | undefined];
    work.push(leaseUntil === undefined ? { handler } : { handler, leaseUntil });
  }
  return { id, type, test, receivedAt, signedAt, body, work, parked };
}

type Done = Settlement & { to: "done" };

function packDone({ seq, handler, token, at, dropSteps, records }: Done): PackedSettle {
  const packed: PackedSettle = [seq, handler, token, at, dropSteps];
  if (records === undefined) return packed;
  for (const { key, body, occurredAt } of records) packed.push(key, body, occurredAt);
  return packed;
}

function unpackDone(packed: PackedSettle): Done {
  const [seq, handler, token, at, dropSteps] = packed;
  const records: NewOutboxEvent[] = [];
  for (let index = 5; index < packed.length; index += 3) {
    records.push({
      key: packed[index] as string,
      body: packed[index + 1] as string,
      occurredAt: packed[index + 2] as number,
    });
  }
  return { seq, handler, token, at, dropSteps, to: "done", records };
}

/** A new id's event as its number and the tokens of its leases; any other result as it is. */
export type PackedResult = [seq: number, ...tokens: number[]] | CommandResult;

export function packResults(results: readonly CommandResult[], commands: readonly Command[]): PackedResult[] {
  return results.map((result, index) => {
    if (commands[index]?.op !== "accept" || !result.ok) return result;
    const accepted = result.value as AcceptResult;
    const isPacked = accepted.kind === "stored" && !accepted.otherBytes;
    return isPacked ? [accepted.seq, ...accepted.leases.map(({ token }) => token)] : result;
  });
}

/** `commands` are those of the batch: they know which handlers asked for a lease. */
export function unpackResults(packed: readonly PackedResult[], commands: readonly Command[]): CommandResult[] {
  return packed.map((result, index): CommandResult => {
    const command = commands[index];
    if (!Array.isArray(result) || command?.op !== "accept") return result as CommandResult;
    const [seq, ...tokens] = result;
    const leases: Lease[] = [];
    for (const { handler, leaseUntil } of command.input.work) {
      const token = leaseUntil === undefined ? undefined : tokens[leases.length];
      if (token !== undefined) leases.push({ seq, handler, token });
    }
    const value: AcceptResult = { kind: "stored", seq, leases, otherBytes: false };
    return { ok: true, value };
  });
}
