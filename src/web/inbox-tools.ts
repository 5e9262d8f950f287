import type { InboxOperator } from "../store/inbox-operator.js";
import type { ActionLog } from "./action-log.js";
import type { PersonalData } from "./personal-data.js";
import type { SharedReadings } from "./shared-readings.js";

/** What the routes of an inbox work with. */
export interface InboxTools {
  operator: () => InboxOperator;
  readings: SharedReadings;
  personal: PersonalData;
  log: ActionLog;
  /** Names of the handlers that are registered here, in their order. */
  handlers: () => readonly string[];
  now: () => number;
}
