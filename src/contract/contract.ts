import { chats } from "./chats.js";
import { contactEvents } from "./contact-events.js";
import { drafts } from "./drafts.js";
import { files } from "./files.js";
import { forms } from "./forms.js";
import { keys } from "./keys.js";
import { labels } from "./labels.js";
import { mailboxes } from "./mailboxes.js";
import { contacts } from "./contacts.js";
import type { Operation } from "./operation.js";
import { roles } from "./roles.js";
import { sending } from "./sending.js";
import { signatures } from "./signatures.js";
import { tools } from "./tools.js";
import { webhooks } from "./webhooks.js";

/** Written out, since an inferred type would be copied into the declarations without the docstrings of its rows. */
export interface Contract {
  /** Operations on chats; see docs/service.md#chats. */
  readonly chats: typeof chats;
  /** Operations on contact events; see docs/service.md#contact-events. */
  readonly contactEvents: typeof contactEvents;
  /** Operations on contacts and people; see docs/service.md#contacts. */
  readonly contacts: typeof contacts;
  /** Operations on drafts; see docs/service.md#drafts. */
  readonly drafts: typeof drafts;
  /** Operations on files and links; see docs/service.md#files. */
  readonly files: typeof files;
  /** Operations on forms, and the sign-up; see docs/service.md#forms. */
  readonly forms: typeof forms;
  /** Operations on API keys; see docs/service.md#api-keys. */
  readonly keys: typeof keys;
  /** Operations on labels; see docs/service.md#labels. */
  readonly labels: typeof labels;
  /** Operations on connected mailboxes; see docs/service.md#connected-mailboxes. */
  readonly mailboxes: typeof mailboxes;
  /** Operations on roles; see docs/service.md#roles. */
  readonly roles: typeof roles;
  /** Operations on sending lanes and dedicated IPs; see docs/service.md#sending-lanes. */
  readonly sending: typeof sending;
  /** Operations on signatures; see docs/service.md#signatures. */
  readonly signatures: typeof signatures;
  /** Checks of the records of domains; see docs/service.md#record-checks. */
  readonly tools: typeof tools;
  /** Operations on endpoints; see docs/service.md#endpoint-operations. */
  readonly webhooks: typeof webhooks;
}

/** Every operation by resource and name: the contract of the API. */
export const CONTRACT: Contract = {
  chats,
  contactEvents,
  contacts,
  drafts,
  files,
  forms,
  keys,
  labels,
  mailboxes,
  roles,
  sending,
  signatures,
  tools,
  webhooks,
};

/** An operation with its resource and name in the contract. */
export interface NamedOperation {
  resource: keyof Contract;
  name: string;
  operation: Operation;
}

/** All rows in order. */
export function listOperations(): NamedOperation[] {
  return (Object.keys(CONTRACT) as (keyof Contract)[]).flatMap((resource) =>
    Object.entries<Operation>(CONTRACT[resource]).map(([name, operation]) => ({ resource, name, operation })),
  );
}

/** Names of all calls, such as `contacts.get`, in order. */
export const CALL_NAMES: readonly string[] = listOperations().map(({ resource, name }) => `${resource}.${name}`);

/** Names of the resources of the API. */
export const API_RESOURCES: readonly string[] = Object.keys(CONTRACT);
