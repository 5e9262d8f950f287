import type { Logger } from "../base/logger.js";
import type { Viewer } from "./identify-viewer.js";

/** What a person did. */
export type LoggedAction =
  | "retry"
  | "discard"
  | "run"
  | "pause"
  | "resume"
  | "create_job"
  | "cancel_job"
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
  /** What of the API was read. */
  path?: string;
}

/** One line in the app's log for each action, before it is done, with the name that the app gave. */
export class ActionLog {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  note(person: Viewer, action: LoggedAction, target: ActionTarget): void {
    this.#logger.info({ by: person.name, action, ...target }, "dashboard_action");
  }
}
