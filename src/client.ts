export { createClient } from "./client/create-client.js";
export type { ClientOptions } from "./client/options.js";
export type { ApiKeyOption } from "./client/credential.js";
export type {
  BatchCallOptions,
  CallOptions,
  Client,
  ContactEventSender,
  InvalidEvents,
  KeyedCallOptions,
  UploadCallOptions,
} from "./client/call-types.js";
export type { AnswerOf, CallName, BodyOf, QueryOf } from "./client/named-types.js";
export type { Download } from "./client/download.js";
export type { UploadData } from "./client/upload-body.js";
export type { PagePromise } from "./client/page-promise.js";
export type { FetchFunction } from "./client/attempt.js";
export {
  ApiError,
  AuthenticationError,
  ConflictError,
  InvalidInputError,
  InvalidRequestError,
  NoAnswerError,
  type NoAnswerReason,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
} from "./client/errors.js";
export type { ApiErrorCode } from "./contract/api-error-codes.js";
export type { PathOverrides } from "./contract/bind-paths.js";
export type { CredentialShape } from "./contract/credential-shape.js";
export {
  type ContactEvent,
  type ContactEventBatch,
  type ContactEventInput,
  type ContactEventResult,
  EVENT_LIMITS,
  checkContactEvent,
} from "./contract/contact-event.js";
export type { Checked, ValidationIssue, ValidationCode } from "./contract/check-input.js";
export type { Contact, ContactCreateInput, ContactUpdateInput, ListedContact, Person } from "./contract/contacts.js";
export type { Draft, DraftCreateInput, DraftUpdateInput } from "./contract/drafts.js";
export type { FileBatchDelete, FileLink, FileStats, WorkspaceFile } from "./contract/files.js";
export type { Chat, ChatUpdateInput } from "./contract/chats.js";
export type { FieldError } from "./contract/error-body.js";
export type {
  Form,
  FormCreateInput,
  FormItem,
  FormStarter,
  FormSubscription,
  FormUpdateInput,
} from "./contract/form.js";
export type {
  ApiKey,
  ApiKeyActivity,
  ApiKeyCreateInput,
  ApiKeyRequest,
  ApiKeyUpdateInput,
  ApiKeyWithToken,
} from "./contract/keys.js";
export type { Label, LabelCreateInput, LabelUpdateInput, PaletteColor } from "./contract/labels.js";
export type { Role, RoleCreateInput, RolePermission, RoleUpdateInput } from "./contract/roles.js";
export type { DedicatedIp, SendingLane } from "./contract/sending.js";
export type {
  Signature,
  SignatureCopyInput,
  SignatureCreateInput,
  SignatureUpdateInput,
} from "./contract/signatures.js";
export type { BimiReport, DeliverabilityCheck, DeliverabilityReport, DmarcReport } from "./contract/tools.js";
export type {
  ConnectedMailbox,
  MailboxConnectInput,
  MailboxDiscovery,
  MailboxUpdateInput,
} from "./contract/mailboxes.js";
export type { Page } from "./contract/paging.js";
export type {
  WebhookActivity,
  WebhookCreateInput,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEndpointWithSecret,
  WebhookEventType,
  WebhookStats,
  WebhookTest,
  WebhookUpdateInput,
} from "./contract/webhook-endpoint.js";
