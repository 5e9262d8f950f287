import type { DashboardContactEventDetail, DashboardContactEventPage } from "../../dashboard/api/contact-events.js";
import type { InboxChanges } from "../../operator/change-each.js";

/** Which contact events are listed; an empty field asks for all. */
export type OutboxFilter = Record<"state" | "name" | "text" | "error" | "inboxEventId" | "since" | "cursor", string>;

/** What the outbox needs of the face of the page that shows it. */
export interface OutboxFace {
  list: (filter: OutboxFilter) => Promise<DashboardContactEventPage>;
  read: (key: string) => Promise<DashboardContactEventDetail>;
  change: (keys: string[], action: "retry" | "discard") => Promise<InboxChanges>;
  mayOperate: () => boolean;
  /** Whether contacts and keys are shown, so that one can look for them. */
  hasContacts: () => boolean;
  /** Of the whole store, by state. */
  counts: () => Partial<Record<string, number>>;
  /** The link to the event of the inbox that recorded a contact event. */
  linkToEvent: (id: string) => string;
}

let chosen: OutboxFace | undefined;

/** Called once, before the page is drawn. */
export function setOutboxFace(face: OutboxFace): void {
  chosen = face;
}

export function outboxFace(): OutboxFace {
  if (chosen === undefined) throw new Error("The page has not said whose outbox it shows.");
  return chosen;
}
