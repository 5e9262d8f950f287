export type { Clock, Timer } from "./base/clock.js";
export type { Logger } from "./base/logger.js";
export type { EraseCounts } from "./store/erase.js";
export type { InboxOperator, OperatorErasure, StoreOverview } from "./store/inbox-operator.js";
export type {
  EventResult,
  FrozenSend,
  NewOutboxEvent,
  Outbox,
  RecordResult,
  SendPage,
  SendRequest,
  SendSettlement,
} from "./store/outbox.js";
export type {
  AcceptResult,
  Glance,
  HandlerPolicy,
  LeasePage,
  LeaseRequest,
  NewEvent,
  PruneLimits,
  RecoverResult,
  ReplanPlan,
  SettleResult,
  Store,
  StoreAlarm,
  StoreContext,
} from "./store/store.js";
export type { Lease, LeasedWork, NewWork, ParkedNote, Settlement } from "./store/work.js";
