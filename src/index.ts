export { createReceiver } from "./receiver/create-receiver.js";
export type { ReceiverOptions, ReceiverRole, Retention } from "./receiver/options.js";
export type {
  DrainOptions,
  DrainResult,
  Receiver,
  ReceiverState,
  ReceiverStats,
  StopOptions,
} from "./receiver/receiver.js";
export type { BackupOptions, Inbox, RetryAllQuery, RetryResult } from "./receiver/inbox.js";
export type { ContactEvents } from "./outbox/contact-events.js";
export type { RepairOptions } from "./receiver/repair-endpoint.js";
export type { MissingEvent, MissingReason, RepairReport } from "./receiver/repair-report.js";
export type { LostEvent } from "./receiver/lost-events.js";
export type { OffPeriod } from "./receiver/off-periods.js";
export {
  ApiKeyLostError,
  ApiKeyNotHandedOverError,
  type RotateApiKeyOptions,
  rotateApiKey,
} from "./receiver/rotate-api-key.js";
export { type RotateSecretOptions, SecretNotHandedOverError, rotateSecret } from "./receiver/rotate-secret.js";
export type { ContactEventRecorder, RecordOptions } from "./outbox/contact-event-record.js";
export type { ContactEventInput } from "./contract/contact-event.js";
export type {
  ContactEventChoice,
  Outbox,
  OutboxCounts,
  OutboxDeadReason,
  OutboxPage,
  OutboxQuery,
  OutboxState,
  OutboxView,
} from "./store/outbox.js";
export type { Alarm } from "./receiver/alarm-table.js";
export type { SecretsOption } from "./receiver/secret-source.js";
export type { GateName } from "./dispatch/gate.js";
export type { Handler, HandlerOptions } from "./dispatch/handler.js";
export type { DeliveryInfo, HandlerContext } from "./dispatch/context.js";
export type { OnceInput } from "./dispatch/once.js";
export { DoNotRetry, RetryAfter, type RetryPolicy } from "./dispatch/retry-policy.js";
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
export type { Answer, Outcome, OutcomeKind, ParkReason, UnverifiedPolicy } from "./protocol/outcome.js";
export {
  type ReadFunction,
  type SqliteStore,
  type SqliteStoreOptions,
  createSqliteStore,
} from "./store/sqlite/sqlite-store.js";
export type { SessionOfServer, Store, StoreAlarm, StoreContext } from "./store/store.js";
export type { KnownIds } from "./store/known-ids.js";
export type { EraseCounts, EraseCursor, EraseOptions, ErasePage, EraseRequest } from "./store/erase.js";
export { type EraseCapturesOptions, type ErasedCaptures, eraseCaptures } from "./capture/redact/erase-captures.js";
export type { PausedHandler } from "./store/paused-handlers.js";
export type { WorkState } from "./store/work-state.js";
export type {
  EventDetail,
  EventPage,
  EventQuery,
  EventView,
  FailedRun,
  FailedRuns,
  HandlerDetail,
  HandlerView,
  KeptStep,
  StoreCounts,
  WorkChoice,
} from "./store/inbox-view.js";
export type { CommitFunction, CommitTransaction } from "./store/commit-transaction.js";
export { ERROR_CODES, type ErrorCode, PigeonholeError, isPigeonholeError } from "./base/error.js";
export type { Clock, Timer } from "./base/clock.js";
export type { Logger } from "./base/logger.js";
