import type { Clock } from "../base/clock.js";
import { PigeonholeError } from "../base/error.js";
import { defineOptions, flag, given, list, required, type OptionsOf, wholeNumber } from "../base/options.js";
import type { Dispatcher } from "../dispatch/dispatcher.js";
import { readAgain, readAllAgain } from "../dispatch/read-again.js";
import type { HandlerRegistry } from "../dispatch/registry.js";
import { filterChecks } from "../operator/filter-reader.js";
import { WORK_FILTERS } from "../store/filters.js";
import type { EraseOptions } from "../store/erase.js";
import type { PlanOptions, PlannedHistory } from "../store/history.js";
import {
  type EventDetail,
  type EventPage,
  type EventQuery,
  foundEvent,
  pageLimit,
  type WorkChoice,
} from "../store/inbox-view.js";
import type { RunCounts, InboxOperator, OperatorErasure } from "../store/inbox-operator.js";
import type { Store } from "../store/store.js";
import type { EventState } from "../store/state-words.js";
import { checkText } from "./options.js";

/** The result of a retry: `pending` pieces of work, or the reason why it is still parked. */
export interface RetryResult {
  /** Pieces of work that run now; 0 when nothing was left to run. */
  pending: number;
  /** The reason why the event is still parked, such as `bad_data`; undefined when it is understood. */
  parked: string | undefined;
}

/** Lists, retries and discards stored events. All of it is safe while deliveries arrive. */
export interface Inbox {
  /** Events, newest first, a page at a time. */
  list(query?: EventQuery): Promise<EventPage>;
  /**
   * One event with its bytes and the state of each handler; undefined when the id is unknown. `acme/evt_1` is that of
   * the source `acme`, `evt_1` the newest of any.
   */
  get(id: string): Promise<EventDetail | undefined>;
  /**
   * Reads the event again with today's schemas and handlers: dead and crashed work gets new attempts, and handlers that
   * never received the event get it. What a handler has done stays done. Rejects with `not_found` or `body_dropped`.
   */
  retry(id: string): Promise<RetryResult>;
  /**
   * `retry` for every event with dead or parked work, oldest first. Resolves with the number of these events, of the
   * pieces of work that run now, and of the events that are still parked.
   */
  retryAll(query: RetryAllQuery): Promise<{ events: number; pending: number; stillParked: number }>;
  /**
   * Runs work of the event now that waits for its next run. It gets no attempt, and keeps those that it had. Resolves
   * with the number of pieces. Dead and parked work is for `retry`. Rejects with `not_found`.
   */
  runNow(id: string): Promise<number>;
  /** `runNow` for all work that fits each field of the choice; without one, for all that waits for its next run. */
  runAllNow(choice?: WorkChoice): Promise<RunCounts>;
  /**
   * Gives a new handler the stored events of its types that it has no work for, as a job: while nothing else of the
   * handler is due, and where it runs. A handler never gets an event twice; to correct what one has done, register
   * another name, such as `score@2`. Test events and those that were not understood are left out. Rejects with
   * `not_found` for an unknown handler, and with `invalid_argument` for types that it does not get.
   */
  plan(options: PlanOptions): Promise<PlannedHistory>;
  /**
   * Ends all work of the event that is not running; returns how many pieces. Its id stays known. Rejects with
   * `not_found`.
   */
  discard(id: string): Promise<number>;
  /**
   * Erases what mentions an e-mail address: bodies, values of steps and error texts of events, and contact events.
   * Their work ends without a run, and contact events that wait are not sent. Ids, keys and marks stay, so that nothing
   * runs or is sent twice. Jobs of the dashboard lose the texts by which people chose their work, whatever they say.
   * What is being handled or sent, or chooses by such a text, is counted as left: call it again later. The captures
   * of `pigeonhole dev` are for `pigeonhole inbox erase`. Rejects with `invalid_argument` for what is not one address.
   */
  erase(options: EraseOptions): Promise<OperatorErasure>;
  /**
   * Writes a whole copy of the database as of one moment to the path `copy`, in one file of mode 0600, while deliveries
   * arrive. Resolves with its size in bytes. The safe way to copy: a program in this process that opens and closes the
   * file by other means, `fs.cp` among them, ends the locks that guard it. Rejects with `invalid_argument` for a copy
   * that may not be written there, and for a store that is not a file.
   */
  backup(copy: string, options?: BackupOptions): Promise<{ bytes: number }>;
}

/** Which events `receiver.inbox.retryAll` retries. */
export interface RetryAllQuery {
  /** Events that have work in this state: `"dead"` or `"parked"`. */
  state: "dead" | "parked";
}

/** How `receiver.inbox.backup` writes its copy. */
export interface BackupOptions {
  /** Replaces an existing copy. @default false */
  replace?: boolean | undefined;
}

interface InboxDeps {
  store: Store<unknown>;
  operator: InboxOperator;
  registry: HandlerRegistry;
  dispatcher: Dispatcher;
  clock: Clock;
}

const CHOICE = { ...filterChecks(WORK_FILTERS), ids: given<readonly string[]>() } satisfies OptionsOf<WorkChoice>;

export const WORK_CHOICE_OPTIONS = defineOptions("inbox.runAllNow", CHOICE);

/** The store checks the states and the cursor. */
export const EVENT_QUERY_OPTIONS = defineOptions("inbox.list", {
  ...CHOICE,
  state: given<EventState>(),
  limit: pageLimit,
  cursor: given<string | null>(),
} satisfies OptionsOf<EventQuery>);

export const BACKUP_OPTIONS = defineOptions("inbox.backup", {
  replace: flag({ default: false }),
} satisfies OptionsOf<BackupOptions>);

export const ERASE_OPTIONS = defineOptions("inbox.erase", {
  email: required<string>(),
  dryRun: flag({ default: false }),
} satisfies OptionsOf<EraseOptions>);

/** The store checks the types. */
export const PLAN_OPTIONS = defineOptions("inbox.plan", {
  handler: { required: true, read: checkText },
  since: wholeNumber({ min: 0 }),
  until: wholeNumber({ min: 0 }),
  types: list<string>(),
  dryRun: flag({ default: false }),
} satisfies OptionsOf<PlanOptions>);

/** The store checks the state. */
export const RETRY_ALL_OPTIONS = defineOptions("inbox.retryAll", {
  state: required<RetryAllQuery["state"]>(),
} satisfies OptionsOf<RetryAllQuery>);

/** Runs work now that waits for its next run. */
function runWaiting({ operator, dispatcher }: InboxDeps): Pick<Inbox, "runNow" | "runAllNow"> {
  return {
    async runNow(id) {
      const { work } = await operator.changeEvent("run", id);
      if (work > 0) dispatcher.wake();
      return work;
    },
    async runAllNow(choice = {}) {
      const chosen = WORK_CHOICE_OPTIONS.resolve(choice);
      const { events, work } = await operator.changeWork("run", chosen);
      if (work > 0) dispatcher.wake();
      return { events, work };
    },
  };
}

export function createInbox(deps: InboxDeps): Inbox {
  const { operator, registry, dispatcher, clock } = deps;

  return {
    async list(query = {}) {
      const { items, nextCursor } = await operator.listEvents(EVENT_QUERY_OPTIONS.resolve(query));
      return { items, nextCursor };
    },
    get: (id) => operator.getEvent(id),
    async retry(id) {
      const found = await operator.getEvent(id);
      const event = foundEvent(found?.id === id ? found : undefined, { id, place: "the inbox" });
      const { pending, parked } = await readAgain(deps, event, { now: clock.now() });
      if (pending > 0) dispatcher.wake();
      return { pending, parked: parked?.reason };
    },
    async retryAll(query) {
      RETRY_ALL_OPTIONS.checkNames(query);
      try {
        return await readAllAgain(deps, query.state);
      } finally {
        dispatcher.wake();
      }
    },
    ...runWaiting(deps),
    async plan(options) {
      const request = PLAN_OPTIONS.resolve(options);
      const handlerTypes = registry.all.find(({ name }) => name === request.handler)?.patterns;
      const planned = await operator.planHistory({ ...request, handlerTypes, by: "app" });
      if (planned.job !== undefined) dispatcher.wake();
      return planned;
    },
    async discard(id) {
      return (await operator.changeEvent("discard", id)).work;
    },
    erase: async (options) => operator.erase(ERASE_OPTIONS.resolve(options)),
    async backup(copy, options = {}) {
      const { replace } = BACKUP_OPTIONS.resolve(options);
      if (typeof copy !== "string" || copy === "") {
        throw new PigeonholeError("invalid_argument", "inbox.backup needs the path of the copy.");
      }
      return operator.backUp({ copy, replace });
    },
  };
}
