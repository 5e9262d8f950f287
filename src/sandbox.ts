export { createSandbox } from "./sandbox/create-sandbox.js";
export type { SandboxOptions } from "./sandbox/options.js";
export type {
  EmitOptions,
  Emitted,
  EndpointWithSecret,
  PlannedAttempt,
  Sandbox,
  SandboxEndpoints,
  SandboxListenOptions,
  SandboxResetOptions,
} from "./sandbox/control/sandbox.js";
export type { ContactEventWait } from "./sandbox/contact-events/contact-event-waits.js";
export type { SandboxClock } from "./sandbox/clock/sandbox-time.js";
export type { SandboxLogEntry } from "./sandbox/log-entry.js";
export {
  type InitialEndpoint,
  type RunningSandbox,
  type SandboxProcessOptions,
  startSandboxServer,
} from "./sandbox/start-sandbox-server.js";
export type {
  CallerRights,
  KeyCaller,
  MemberCaller,
  OwnerCaller,
  SandboxCallers,
} from "./sandbox/access/sandbox-callers.js";
export type { InvitationInput, MemberInput } from "./sandbox/access/role-book.js";
export type { AudienceInput } from "./sandbox/resources/address-book.js";
export type { ChatInput } from "./sandbox/resources/chat-input.js";
export type { DedicatedIpInput } from "./sandbox/resources/dedicated-ips.js";
export type { DomainRecords } from "./sandbox/resources/domain-records.js";
export type { MailAccountInput, MailHost, MailServerInput } from "./sandbox/resources/mail-servers.js";
export type { ResourceName } from "./sandbox/resources/create-resources.js";
export { SandboxApiError } from "./sandbox/api/api-handlers.js";
export type { ActiveFault } from "./sandbox/faults/fault-rules.js";
export type { ApiFaultRule, InjectedFault } from "./sandbox/calls/api-faults.js";
export type { SandboxApiKey, SandboxApiKeys } from "./sandbox/access/api-key-registry.js";
export type { ApiCallEntry } from "./sandbox/calls/create-api.js";
export type { SandboxAutomation } from "./sandbox/contact-events/automations.js";
export type { ContactInput, SandboxContact } from "./sandbox/contact-events/contact-list.js";
export type { StoredEvent } from "./sandbox/contact-events/event-log.js";
export type { AttemptFilter } from "./sandbox/delivery/attempt-log.js";
export type { AttemptRow } from "./sandbox/delivery/attempt-row.js";
export type { SandboxEvent } from "./sandbox/delivery/scheduled-delivery.js";
export type { DeliveryFault, DeliveryFaultRule } from "./sandbox/delivery/delivery-faults.js";
export type { EndpointChange } from "./sandbox/endpoints/endpoint-registry.js";
export type { AttemptWait } from "./sandbox/delivery/attempt-waits.js";
export { type ManualClock, createManualClock } from "./base/manual-clock.js";
export { type SampleEvent, type SampleOptions, sampleEvent, sampleTestEvent } from "./sandbox/samples/sample-event.js";
