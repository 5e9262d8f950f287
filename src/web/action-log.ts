import { type Clock, elapsedBy } from "../base/clock.js";
import { MINUTE } from "../base/duration.js";
import type { Logger } from "../base/logger.js";
import { setNewest } from "../base/set-newest.js";
import type { Viewer } from "./web-route.js";

/** What a person did. */
export type LoggedAction =
  | "retry"
  | "discard"
  | "run"
  | "pause"
  | "resume"
  | "create_job"
  | "cancel_job"
  | "pause_job"
  | "resume_job"
  | "retry_contact_events"
  | "discard_contact_events"
  | "unveil_payload"
  | "see_in_full"
  | "save_fixture"
  | "save_capture";

/** What it was done to. Filters may quote an error, so that the log has the job's id only. */
export interface ActionTarget {
  eventId?: string;
  handler?: string;
  job?: string;
  jobAction?: string;
  contactEvents?: number;
  /** Of a fixture: with the event's own bytes, or redacted. */
  form?: "exact" | "redacted";
  /** What of the API was read. */
  path?: string;
}

/** An open page reads its list every few seconds: that is one sight. */
const SIGHT_MS = 5 * MINUTE;
const MAX_SIGHTS = 1_000;

/** One line in the app's log for each action, before it is done, with the name that the app gave. */
export class ActionLog {
  readonly #logger: Logger;
  readonly #clock: Clock;
  /** When the sight of a name and a path was last logged, oldest first. */
  readonly #sights = new Map<string, number>();

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger;
    this.#clock = clock;
  }

  note(person: Viewer, action: LoggedAction, target: ActionTarget): void {
    this.#logger.info({ by: person.name, action, ...target }, "dashboard_action");
  }

  /** A person who may see all sees what is at a path. Logged again after 5 minutes at the earliest. */
  noteSight(person: Viewer, path: string): void {
    const now = elapsedBy(this.#clock);
    const key = JSON.stringify([person.name, path]);
    const loggedAt = this.#sights.get(key);
    if (loggedAt !== undefined && now >= loggedAt && now - loggedAt < SIGHT_MS) return;
    // One that is forgotten is logged again early.
    setNewest(this.#sights, key, now, MAX_SIGHTS);
    this.note(person, "see_in_full", { path });
  }
}
