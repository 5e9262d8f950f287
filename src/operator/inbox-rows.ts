import type { OutboxView } from "../store/outbox.js";

export type { HandlerTimes } from "../store/handler-times.js";
export type { EventView, EventWithRuns, HandlerDetail, HandlerView } from "../store/inbox-view.js";

/** A contact event in lists. */
export type ContactEventRow = Omit<OutboxView, "seq" | "body">;
