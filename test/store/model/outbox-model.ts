import { isoTime } from "#pigeonhole/base/iso-time.js";
import type { EventResult, FrozenSend, OutboxCounts } from "#pigeonhole/store/outbox.js";
import type { ContactEventState } from "#pigeonhole/store/state-words.js";
import { BLOCKING_TRIES } from "#pigeonhole/store/queries/outbox-calls.js";
import { Lives } from "./lives.js";
import { ContactEventSlots } from "./contact-event-slots.js";

/** What the outbox should hold for one event. */
export interface ModelEvent {
  key: string;
  body: string;
  occurredAt: number;
  recordedAt: number;
  /** As it is stored. */
  state: "pending" | "leased" | "done" | "dead";
  settledAt: number | null;
  reason: string | null;
  code: string | null;
  param: string | null;
  message: string | null;
  remoteId: string | null;
}

/** Of an event that has no outcome, or none that a fault explains. */
const UNSETTLED = { settledAt: null, reason: null, code: null, param: null, message: null };

/** A call whose members are fixed. */
export interface ModelSend {
  members: ModelEvent[];
  state: "pending" | "leased" | "dead";
  /** When it may be given: its next try is due, or its lease ends. */
  freeAt: number;
  attempt: number;
  /** The store that its lease was given by. */
  life: number;
  /** As given the last time. */
  given: FrozenSend;
}

/** The outbox as its interface describes it, in plain objects, and the service that its calls reach. */
export class OutboxModel extends Lives {
  /** In the order of recording. */
  readonly events: ModelEvent[] = [];
  /** In the order of freezing. */
  sends: ModelSend[] = [];
  /** Every call ever given, so that old leases are tried too. */
  readonly given: FrozenSend[] = [];
  readonly service = new ContactEventSlots();
  /** How often each name has been let go by retention: it never stands for two events of the service. */
  readonly #pruned = new Map<string, number>();
  #runs = 0;

  /** The key that a name stands for now. */
  keyOf(name: string): string {
    return `${name}.${this.#pruned.get(name) ?? 0}`;
  }

  /** A key of a handler's run, of which there is one. */
  nextRunKey(): string {
    this.#runs += 1;
    return `run_${this.#runs}`;
  }

  find(key: string): ModelEvent | undefined {
    return this.events.find((event) => event.key === key);
  }

  record(event: Pick<ModelEvent, "key" | "body" | "occurredAt">): void {
    this.events.push({ ...event, ...UNSETTLED, remoteId: null, recordedAt: this.now, state: "pending" });
  }

  /** The call that is open, the one under way before those that wait; others pass one that has failed often. */
  get open(): ModelSend | undefined {
    const open = this.sends.filter(
      ({ state, attempt, freeAt }) =>
        state === "leased" || (state === "pending" && (attempt < BLOCKING_TRIES || freeAt <= this.now)),
    );
    return open.find(({ state }) => state === "leased") ?? open[0];
  }

  /** Whether a call can be made: none is under way, and one is due or none blocks a new one. */
  get mayCall(): boolean {
    const calls = this.sends.filter(({ state }) => state !== "dead");
    if (calls.some(({ state }) => state === "leased")) return false;
    const isBlocked = calls.some(({ attempt }) => attempt < BLOCKING_TRIES);
    return calls.some(({ freeAt }) => freeAt <= this.now) || (!isBlocked && this.together(1).length > 0);
  }

  /** The members of a new call. */
  together(limit: number): ModelEvent[] {
    return this.events.filter(({ state }) => state === "pending").slice(0, limit);
  }

  freeze(send: ModelSend): void {
    for (const member of send.members) member.state = "leased";
    this.sends.push(send);
  }

  /** A call under a lease, if the lease still holds. */
  held({ token }: FrozenSend): ModelSend | undefined {
    return this.sends.find(({ state, given }) => state === "leased" && given.token === token);
  }

  settle(send: ModelSend, results: readonly EventResult[]): void {
    for (const [index, event] of send.members.entries()) {
      const result = results[index];
      const isDiscarded = event.state === "done" && result?.to === "done";
      if (event.state !== "leased" && !isDiscarded) continue;
      event.state = result === undefined || result.to === "again" ? "pending" : result.to;
      if (result?.to === "done") Object.assign(event, { ...UNSETTLED, settledAt: this.now, remoteId: result.remoteId });
      if (result?.to === "dead") {
        const { reason, code, param, message } = result;
        Object.assign(event, { settledAt: this.now, reason, code, param, message });
      }
    }
    this.sends = this.sends.filter((other) => other !== send);
  }

  giveUp(send: ModelSend, fault: Pick<ModelEvent, "reason" | "message">): void {
    send.state = "dead";
    const dead = { state: "dead", settledAt: this.now, ...fault };
    for (const event of send.members) if (event.state === "leased") Object.assign(event, dead);
  }

  retry(key: string): boolean {
    const event = this.find(key);
    if (event?.state === "leased") return this.#makeDue(event);
    if (event?.state !== "dead") return false;
    const send = this.sends.find(({ members }) => members.includes(event));
    if (send !== undefined) Object.assign(send, { state: "pending", freeAt: this.now });
    for (const member of send?.members ?? [event]) {
      if (member.state !== "dead") continue;
      Object.assign(member, { ...UNSETTLED, state: send === undefined ? "pending" : "leased" });
    }
    return true;
  }

  /** The call of an event that waits, and those before it, since calls go out in their order. */
  #makeDue(event: ModelEvent): boolean {
    const last = this.sends.findIndex(({ state, members }) => state === "pending" && members.includes(event));
    const due = this.sends.filter(({ state, freeAt }, at) => at <= last && state === "pending" && freeAt > this.now);
    for (const send of due) send.freeAt = this.now;
    return due.length > 0;
  }

  discard(key: string): boolean {
    const event = this.find(key);
    if (event?.state !== "dead" && event?.state !== "pending") return false;
    Object.assign(event, { ...UNSETTLED, state: "done", settledAt: this.now, message: "discarded" });
    this.sends = this.sends.filter(
      ({ state, members }) => state !== "dead" || members.some((member) => member.state === "dead"),
    );
    return true;
  }

  recover(): void {
    const ends = this.takeOver();
    for (const send of this.sends) {
      if (send.state !== "leased" || !ends(send.life, send.freeAt)) continue;
      Object.assign(send, { state: "pending", freeAt: this.now });
    }
  }

  prune(idsBefore: number): void {
    const bound = new Set(this.sends.flatMap(({ members }) => members));
    const kept = this.events.filter(
      (event) => event.state !== "done" || bound.has(event) || event.recordedAt >= idsBefore,
    );
    for (const { key } of this.events.filter((event) => !kept.includes(event))) {
      const [name = ""] = key.split(".");
      this.#pruned.set(name, (this.#pruned.get(name) ?? 0) + 1);
    }
    this.events.splice(0, this.events.length, ...kept);
  }

  /** Events that a list of the state has. */
  in(state: ContactEventState): ModelEvent[] {
    return this.events.filter((event) => this.shownState(event) === state);
  }

  shownState(event: ModelEvent): ContactEventState {
    const { state, remoteId } = event;
    if (state === "done") return remoteId === null ? "discarded" : "done";
    if (state !== "leased") return state;
    const call = this.sends.find((send) => send.state !== "dead" && send.members.includes(event));
    return call?.state === "pending" ? "retrying" : "running";
  }

  get counts(): OutboxCounts {
    const count = (state: ContactEventState): number => this.in(state).length;
    const open = this.events.filter(({ state }) => state === "pending" || state === "leased");
    return {
      pending: count("pending"),
      running: count("running"),
      retrying: count("retrying"),
      dead: count("dead"),
      oldestRecordedAt: isoTime(open.length === 0 ? null : Math.min(...open.map(({ recordedAt }) => recordedAt))),
    };
  }
}
