export { createReceiver } from "./receiver/create-receiver.js";
export type { ReceiverOptions } from "./receiver/options.js";
export type { Receiver, ReceiverStats } from "./receiver/receiver.js";
export type { Inbox } from "./receiver/inbox.js";
export type { ContactEvents } from "./outbox/contact-events.js";
export type { RepairReport } from "./receiver/repair-report.js";
export { ApiKeyLostError, NotHandedOverError, rotateApiKey, rotateSecret } from "./receiver/rotate.js";
export type { ContactEventInput } from "./contract/contact-event.js";
export type { OutboxQuery, OutboxView } from "./store/outbox.js";
export type { Alarm } from "./receiver/alarm-table.js";
export type { BatchContext, BatchHandler, BatchOptions, EventContext } from "./dispatch/batch-handler.js";
export type { DeliveryInfo, Handler, HandlerContext, HandlerOptions } from "./dispatch/handler.js";
export { DoNotRetry, RetryAfter, type RetryAfterOptions, type RetryPolicy } from "./dispatch/retry-policy.js";
export type {
  AnyEvent,
  EventData,
  EventMatching,
  EventPattern,
  KnownEvent,
  SchemaMap,
  UnknownEvent,
} from "./protocol/event.js";
export { EVENT_TYPES, type EventType } from "./protocol/event-types.js";
export type { Outcome } from "./protocol/outcome.js";
export { type SqliteStore, type SqliteStoreOptions, createSqliteStore } from "./store/sqlite/sqlite-store.js";
export type { Store } from "./store/store.js";
export type { EventState, WorkState } from "./store/state-words.js";
export type { EventDetail, EventQuery, EventView } from "./store/inbox-view.js";
export type { CommitFunction, CommitTransaction } from "./store/commit-transaction.js";
export { ERROR_CODES, type ErrorCode, PigeonholeError, isPigeonholeError } from "./base/error.js";
export type { Clock } from "./base/clock.js";
export type { Logger } from "./base/logger.js";
