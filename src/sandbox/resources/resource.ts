import type { z } from "zod";
import type { Clock } from "../../base/clock.js";
import type { Changes } from "../../base/options.js";
import type { Contract } from "../../contract/contract.js";
import type { EventType } from "../../protocol/event-types.js";
import type { OwnedAddresses } from "../access/allowlists.js";
import type { RoleBook } from "../access/role-book.js";
import type { ApiHandlers } from "../api/api-handlers.js";
import type { ApiKeyRegistry } from "../access/api-key-registry.js";
import type { AddressBook } from "../contact-events/address-book.js";
import type { SandboxEvent } from "../delivery/scheduled-delivery.js";
import type { MakeId } from "../api/make-id.js";
import type { MailServers } from "./mail-servers.js";
import type { SignUps } from "./sign-ups.js";

/** A conversation with the assistant to begin with; the API cannot make one. */
export interface ChatInput {
  /** Its title. */
  title: string;
  /** A UUID. @default made from the seed */
  id?: string | undefined;
  /** Its kind, of which the values are not documented. @default "assistant" */
  kind?: string | undefined;
  /** Number of its messages. @default 2 */
  messageCount?: number | undefined;
  /** When it was last used, ISO 8601. @default the time at which the sandbox begins */
  updatedAt?: string | undefined;
}

/** Fields of a report of the record checks. */
export type GivenReport<Name extends keyof Contract["tools"]> = Changes<z.input<Contract["tools"][Name]["result"]>>;

/** What the record checks report of one domain. The sandbox asks no DNS, and judges no record. */
export interface DomainReports {
  /** The domain, such as `acme.example.com`. */
  domain: string;
  /** Fields of its DMARC report. @default there is no record */
  dmarc?: GivenReport<"dmarc"> | undefined;
  /** Fields of its BIMI report. @default there is no record */
  bimi?: GivenReport<"bimi"> | undefined;
  /** Fields of its deliverability report. @default score 0, grade F, and no checks */
  deliverability?: GivenReport<"deliverability"> | undefined;
}

/** Those of the options of `createSandbox` that its resources read. */
export interface WorkspaceOptions {
  readonly addresses: readonly string[];
  readonly domains: readonly string[];
  readonly blocklist: readonly string[];
  readonly chats: readonly ChatInput[];
  readonly dedicatedIps: readonly string[];
  readonly domainReports: readonly DomainReports[];
  readonly aiActions: number | "off";
  readonly maxFileBytes: number;
}

/** What the resources of the emulated workspace share. */
export interface Workspace {
  /** The address of the API now. */
  apiUrl: () => string;
  /** The time of the workspace, which `sandbox.advance` moves. */
  clock: Clock;
  makeId: MakeId;
  /** What the workspace begins with, and what it owns. */
  options: WorkspaceOptions;
  /** The API keys and access tokens. */
  keys: ApiKeyRegistry;
  /** The roles, and who has them. */
  roles: RoleBook;
  /** The contacts, and the addresses seen in mail. */
  book: AddressBook;
  /** Every address of the workspace, those of connected mailboxes too. */
  owned: OwnedAddresses;
  /** The mail servers outside the workspace. */
  mailServers: MailServers;
  /** The sign-ups to its forms. */
  signUps: SignUps;
  /** Fires an event, as what a call does; `data` is all of its data. */
  fire: (type: EventType, data: object) => void;
}

/** One resource of the emulated workspace. */
export interface SandboxResource<Name extends keyof Contract> {
  /** One handler for each of its operations. */
  readonly handlers: ApiHandlers[Name];
  /** Every row as the API sends it to a caller who sees all; for the control API. */
  rows(): readonly object[];
  /** Back to what the options say. */
  reset(): void;
  /** Called for each event that `sandbox.emit` fires, so that a handler's calls find what the event is about. */
  onEvent?(event: SandboxEvent): void;
  /** What the URL of a link answers at this path; undefined for any other path. Throws 404 for one that is revoked. */
  openLink?(path: string): object | undefined;
}
