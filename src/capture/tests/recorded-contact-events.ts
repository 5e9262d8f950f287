import { waitingClock } from "../../base/clock.js";
import { sleep } from "../../base/wait.js";
import type { Capture, Expectation } from "../model/capture.js";
import { bodyJson } from "../model/captured-body.js";

/** A contact event that the app recorded, as its outbox shows it. */
export interface InspectedContactEvent {
  /** Its place in the order of recording. */
  seq: number;
  /** Name of the contact event. */
  name: string;
  /** `pending`, `running`, `retrying`, `done`, `discarded`, `dead`. */
  state: string;
  /** Number of tries so far. */
  attempts: number;
  /** The API's code, or another reason, of a dead one. */
  reason?: string | undefined;
  /** The API's message about a dead one. */
  message?: string | undefined;
}

/** Contact events recorded after the one with this place in the order. */
export type ListContactEvents = (afterSeq: number) => Promise<readonly InspectedContactEvent[]>;

const POLL_INTERVAL_MS = 10;

/** The contact events of a run. Its cases run one after the other, so what is new is of the last one. */
export class RecordedContactEvents {
  readonly #list: ListContactEvents;
  readonly #settleMs: number;
  #taken = -1;

  constructor(list: ListContactEvents, settleMs: number) {
    this.#list = list;
    this.#settleMs = settleMs;
  }

  /** Those recorded since the last call, once each was taken, refused or tried, or when the time is over. */
  async take(): Promise<readonly InspectedContactEvent[]> {
    const deadline = performance.now() + this.#settleMs;
    for (;;) {
      const found = await this.#list(this.#taken);
      if (found.every(hasBeenTried) || performance.now() > deadline) {
        this.#taken = Math.max(this.#taken, ...found.map(({ seq }) => seq));
        return found;
      }
      await sleep(waitingClock, POLL_INTERVAL_MS);
    }
  }
}

function hasBeenTried({ state, attempts }: InspectedContactEvent): boolean {
  return state !== "running" && (state !== "pending" || attempts > 0);
}

/** Those that the expectation names must be in that state, and no other may be dead. */
export function checkContactEvents(
  { contactEvents = {} }: Expectation,
  found: readonly InspectedContactEvent[] | undefined,
): string[] {
  if (found === undefined) return [];
  const wanted = new Map(Object.entries(contactEvents));
  const missing = [...wanted.keys()].filter((name) => !found.some((one) => one.name === name));
  const wrong = found.filter(({ name, state }) => (wanted.has(name) ? state !== wanted.get(name) : state === "dead"));
  const failures = [
    ...missing.map((name) => `The contact event ${name} was not recorded.`),
    ...wrong.map((one) => describeContactEvent(one, wanted.get(one.name))),
  ];
  return [...new Set(failures)];
}

/** Of all that a run recorded, what is dead now and was not when its case was judged: one sentence each. */
export function findLateRefusals(
  { cases }: { cases: readonly { contactEvents: readonly InspectedContactEvent[] | null }[] },
  found: readonly InspectedContactEvent[],
): string[] {
  const judged = cases.flatMap(({ contactEvents }) => contactEvents ?? []).filter(({ state }) => state === "dead");
  const known = new Set(judged.map(({ seq }) => seq));
  const late = found.filter(({ seq, state }) => state === "dead" && !known.has(seq));
  return late.map((one) => `After its case had ended: ${describeContactEvent(one)}`);
}

function describeContactEvent(found: InspectedContactEvent, expected?: string): string {
  const { name, state, reason = "", message = "" } = found;
  // The message of a whole call has the code, that of an event in a batch has not.
  const why = message.includes(reason) ? message : [reason, message].filter((text) => text !== "").join(": ");
  const what = `The contact event ${name} is ${state}${expected === undefined ? "" : `, expected ${expected}`}`;
  const sentence = `${what}${why === "" ? "" : `: ${why}`}`.replace(/\.?$/, ".");
  if (expected !== undefined) return sentence;
  const known =
    reason === "contact_not_found" ? " The emulated API knows the addresses that the captures mention." : "";
  return `${sentence}${known} If that is intended, write "contactEvents": ${JSON.stringify({ [name]: state })} into the capture's field expect.`;
}

const LOCAL = String.raw`[\p{L}\p{N}.!#$%&'*+/=?^_\x60{|}~-]`;
const LABEL = String.raw`[\p{L}\p{N}-]+`;
/** Begins only where such a run of characters begins, so that a long run without @ is read once. */
const ADDRESS = new RegExp(String.raw`(?<!${LOCAL})${LOCAL}{1,64}@${LABEL}(?:\.${LABEL})+`, "gu");

/** Every address in the bodies of captures, once each, in lower case. */
export function mentionedAddresses(captures: readonly Capture[]): string[] {
  const addresses = new Set<string>();
  for (const { request } of captures) {
    const json = bodyJson(request.body);
    if (!json.ok) continue;
    for (const text of textsIn(json.value)) {
      for (const [address] of text.matchAll(ADDRESS)) addresses.add(address.toLowerCase());
    }
  }
  return [...addresses];
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  if (typeof value !== "object" || value === null) return;
  for (const part of Object.values(value)) yield* textsIn(part);
}
