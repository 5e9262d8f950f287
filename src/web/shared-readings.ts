import type { Clock } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { stepAt } from "../store/figure-rows.js";
import { FIGURE_RANGES, type FigureRange } from "../store/figures.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import { type KeepRule, KeptReadings, type KeptReading } from "./kept-readings.js";

/** What pages read again and again. */
export type SharedMethod =
  | "overview"
  | "readStatuses"
  | "listHandlers"
  | "listJobs"
  | "readFigures"
  | "handlerTimes"
  | "listErrorGroups"
  | "listEvents"
  | "listContactEvents";

/** All who ask within a second get the same; pages ask once a second. */
const SECOND_RULE: KeepRule = { keptFor: () => 0.9 * SECOND };

/** What is not bounded takes at most one part in so many of a core. */
const KEPT_TIMES = 50;

/** A large backlog is not counted each second. */
const COUNT_RULE: KeepRule = { keptFor: (tookMs) => Math.max(0.9 * SECOND, KEPT_TIMES * tookMs) };

/** A list that takes less may be read at once again. */
const SHORT_LIST_MS = 20;
/** A list is not older, and pages load it again after as much. */
const MAX_LIST_AGE_MS = 5 * SECOND;

const LIST_RULE: KeepRule = {
  keptFor: (tookMs) => (tookMs < SHORT_LIST_MS ? 0 : Math.min(MAX_LIST_AGE_MS, KEPT_TIMES * tookMs)),
};

type Counts = Awaited<ReturnType<InboxOperator["overview"]>>;

/** Of an operator's view, what all pages of a process read together. Rejects as the operator does. */
export class SharedReadings implements Pick<InboxOperator, SharedMethod> {
  readonly #operator: () => InboxOperator;
  readonly #clock: Clock;
  readonly #kept: KeptReadings;

  constructor(operator: () => InboxOperator, clock: Clock) {
    this.#operator = operator;
    this.#clock = clock;
    this.#kept = new KeptReadings(clock);
  }

  /** With when they were counted. */
  async count(): Promise<KeptReading<Counts>> {
    // Throws at once when the receiver has stopped, whatever is kept.
    const inbox = this.#operator();
    return this.#kept.read("overview", () => inbox.overview(), COUNT_RULE);
  }

  async overview(): Promise<Counts> {
    return (await this.count()).value;
  }

  readStatuses(): ReturnType<InboxOperator["readStatuses"]> {
    return this.#read("statuses", (inbox) => inbox.readStatuses(), SECOND_RULE);
  }

  /** A page with the newest event. */
  readNewest(): ReturnType<InboxOperator["listEvents"]> {
    return this.#read("newest event", (inbox) => inbox.listEvents({ limit: 1 }), SECOND_RULE);
  }

  listHandlers(): ReturnType<InboxOperator["listHandlers"]> {
    return this.#read("handlers", (inbox) => inbox.listHandlers(), SECOND_RULE);
  }

  listJobs(): ReturnType<InboxOperator["listJobs"]> {
    return this.#read("jobs", (inbox) => inbox.listJobs(), SECOND_RULE);
  }

  async readFigures(range: FigureRange): ReturnType<InboxOperator["readFigures"]> {
    const rule = await this.#figuresRule(FIGURE_RANGES[range].stepMs);
    return this.#read(`figures ${range}`, (inbox) => inbox.readFigures(range), rule);
  }

  async handlerTimes(...query: Parameters<InboxOperator["handlerTimes"]>): ReturnType<InboxOperator["handlerTimes"]> {
    const rule = await this.#figuresRule(FIGURE_RANGES["1h"].stepMs);
    return this.#read(`handler times ${JSON.stringify(query)}`, (inbox) => inbox.handlerTimes(...query), rule);
  }

  listErrorGroups(
    ...query: Parameters<InboxOperator["listErrorGroups"]>
  ): ReturnType<InboxOperator["listErrorGroups"]> {
    return this.#list("errors", query, (inbox) => inbox.listErrorGroups(...query));
  }

  listEvents(...query: Parameters<InboxOperator["listEvents"]>): ReturnType<InboxOperator["listEvents"]> {
    return this.#list("events", query, (inbox) => inbox.listEvents(...query));
  }

  listContactEvents(
    ...query: Parameters<InboxOperator["listContactEvents"]>
  ): ReturnType<InboxOperator["listContactEvents"]> {
    return this.#list("contact events", query, (inbox) => inbox.listContactEvents(...query));
  }

  /** Something was changed here: the person who did it sees it at once. */
  forgetAll(): void {
    this.#kept.forgetAll();
  }

  /** A process writes figures together with its status, which is read anyway. A step that begins moves the plots. */
  async #figuresRule(stepMs: number): Promise<KeepRule> {
    const statuses = await this.readStatuses();
    const reports = statuses.map(({ process, reportedAt }) => `${process} ${reportedAt}`);
    const mark = [stepAt(this.#clock.now(), stepMs), ...reports].join("\n");
    return { keptFor: (tookMs) => KEPT_TIMES * tookMs, mark };
  }

  #list<Value>(name: string, query: unknown, read: (inbox: InboxOperator) => Promise<Value>): Promise<Value> {
    return this.#read(`${name} ${JSON.stringify(query)}`, read, LIST_RULE);
  }

  async #read<Value>(key: string, read: (inbox: InboxOperator) => Promise<Value>, rule: KeepRule): Promise<Value> {
    const inbox = this.#operator();
    const { value } = await this.#kept.read(key, () => read(inbox), rule);
    return value;
  }
}
