import { randomBytes } from "node:crypto";
import { MAX_NODE_TIMER } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { PigeonholeError } from "../base/error.js";
import {
  type Changes,
  type OptionsOf,
  callable,
  defineOptions,
  given,
  list,
  oneOf,
  readBy,
  wholeNumber,
} from "../base/options.js";
import type { PathOverrides } from "../contract/bind-operations.js";
import { EVENT_LIMITS } from "../contract/contact-event.js";
import type { CredentialShape } from "../contract/credential-shape.js";
import type { SignatureAssumptions } from "../protocol/signature-assumptions.js";
import { LIMITS } from "../protocol/limits.js";
import { resolveSignatureAssumptions } from "../protocol/resolve-assumptions.js";
import type { MemberInput } from "./access/role-book.js";
import type { SandboxApiKey } from "./access/api-key.js";
import type { SandboxAutomation } from "./contact-events/automations.js";
import type { AudienceInput, ContactInput } from "./contact-events/address-book.js";
import { type LookUpHost, type RefuseAddress, lookUpHost } from "./delivery/resolve-target.js";
import type { MailServerInput } from "./resources/mail-servers.js";
import type { ChatInput, DomainReports } from "./resources/resource.js";
import type { ReceiveFetch } from "./delivery/send-in-process.js";
import type { SandboxLogEntry } from "./log-entry.js";
import { SAMPLE_DOMAIN, SAMPLE_PEOPLE, SAMPLE_REPORTS, SAMPLE_WORKSPACE_ADDRESSES } from "./samples/sample-story.js";
import type { SandboxClock } from "./clock/sandbox-time.js";

/** How much the sandbox takes, of the option `limits`. */
export interface SandboxLimits {
  /** Most endpoints of the workspace; support can raise the service's number. @default 10 */
  maxEndpoints?: number | undefined;
  /** AI actions that the designer of forms may use; `"off"`: the workspace has none. @default 1,000 */
  aiActions?: number | "off" | undefined;
  /** Contact events a minute for each key. @default 600 */
  eventsPerMinute?: number | undefined;
  /** Most bytes of all uploaded files together, which are in memory. @default 256 MiB */
  maxFileBytes?: number | undefined;
  /** Most rows of all delivery logs together, and of each log of the API keys. @default 100,000 */
  maxLogRows?: number | undefined;
  /** Most attempts at the same time. @default 1 with a manual clock, so that every run is the same, otherwise 64 */
  attemptsAtOnce?: number | undefined;
  /** Real milliseconds after which a manual clock continues without a receiver's answer. @default 5,000 */
  patienceMs?: number | undefined;
}

/** What the service's documentation leaves open and a test may set, of the option `assumptions`. */
export interface SandboxAssumptions {
  /**
   * Overrides for points about the signature that the service's documentation leaves open. @default
   * SIGNATURE_ASSUMPTIONS
   */
  signature?: Changes<SignatureAssumptions> | undefined;
  /** Whether planned retries outlive the switching off of their endpoint; not documented. @default "dropped" */
  retriesOfDisabled?: "dropped" | "kept" | undefined;
  /**
   * Whether the delivery log has a failed row, which can be replayed, for an event that is not sent since its endpoint
   * is switched off; not documented. @default "unlogged"
   */
  eventsOfDisabled?: "unlogged" | "logged" | undefined;
  /** Other paths of the API, as for createClient. @default those of the contract */
  paths?: PathOverrides | undefined;
  /** How the API key travels, as for createClient. @default `Authorization: Bearer <key>` */
  credential?: Changes<CredentialShape> | undefined;
}

/** The options of `createSandbox`; none is required. */
export interface SandboxOptions {
  /**
   * The clock and its speed. With `"manual"`, time passes only in `advance`, `advanceToNextAttempt` and `waitFor`, so
   * that 28 hours of retries take milliseconds. `fakeClock(ms)` of `pigeonhole/testing` is one that begins at another
   * time than 2026.
   *
   * @default "real"
   */
  clock?: SandboxClock | undefined;
  /**
   * The clock that the receiver uses: signatures have its time, and `occurredAt` is compared with it. `"sandbox"`: the
   * receiver shares `sandbox.clock`; `"machine"`: it uses real time.
   *
   * @default "machine" with `{ speed }` and "advanceable", or else "sandbox"
   */
  receiverTime?: "sandbox" | "machine" | undefined;
  /** Seed of ids, secrets, sample data, jitter of waits, and probabilities of faults. @default chosen at random */
  seed?: string | number | undefined;
  /**
   * Enforces the documented URL rule for endpoints, and resolves names on every delivery: true with the machine's
   * resolver, a function with its own answers. @default false: any http or https URL
   */
  strictUrls?: boolean | LookUpHost | undefined;
  /**
   * Returns why an IP address must not be connected to, or undefined if it may. Called for every attempt over HTTP. A
   * refused attempt is recorded as failed with that reason.
   *
   * @default every address is allowed
   */
  refuseAddress?: RefuseAddress | undefined;
  /** Addresses that the workspace owns; events of `emit` are about them. @default those of the samples */
  addresses?: readonly string[] | undefined;
  /** Domains that it owns, with every address in them. @default ["acme.example.com"] */
  domains?: readonly string[] | undefined;
  /** Event types that the service knows and this package does not yet. @default [] */
  newEventTypes?: readonly string[] | undefined;
  /** API keys; `sandbox.apiKey` is the first. @default one live key with every scope, made from the seed */
  apiKeys?: readonly SandboxApiKey[] | undefined;
  /** Members beside the owner, whom `sandbox.callers.member` gives access tokens. @default [] */
  members?: readonly MemberInput[] | undefined;
  /** Contacts to begin with. @default the people of the samples */
  contacts?: readonly ContactInput[] | undefined;
  /** Audiences beside the one that every contact is in. @default [] */
  audiences?: readonly AudienceInput[] | undefined;
  /** Blocked addresses, and domains with every address in them. @default [] */
  blocklist?: readonly string[] | undefined;
  /** Conversations with the assistant to begin with. @default [] */
  chats?: readonly ChatInput[] | undefined;
  /** Dedicated IPs of the workspace, each warm 30 days after the sandbox began. @default [] */
  dedicatedIps?: readonly string[] | undefined;
  /** Reports of the record checks; no DNS is asked. @default good reports of acme.example.com, no records elsewhere */
  domainReports?: readonly DomainReports[] | undefined;
  /** The mail servers that mailboxes can be connected from. @default those of mailbox.example.net */
  mailServers?: readonly MailServerInput[] | undefined;
  /** Automations that contact events can start. @default [] */
  automations?: readonly SandboxAutomation[] | undefined;
  /** Receives the deliveries without a socket, such as `receiver.fetch`. @default over HTTP */
  receive?: ReceiveFetch | undefined;
  /** Limits of the workspace and of the emulator. @default each has its own */
  limits?: SandboxLimits | undefined;
  /** Answers to what the service's documentation leaves open. @default each has its own */
  assumptions?: SandboxAssumptions | undefined;
  /** Receives an entry for everything that happens. */
  onLog?: ((entry: SandboxLogEntry) => void) | undefined;
}

/** The defaults and checks of {@link SandboxLimits}. */
export const LIMIT_OPTIONS = defineOptions("createSandbox", {
  maxEndpoints: wholeNumber({ default: LIMITS.endpointsPerWorkspace, min: 0 }),
  aiActions: given<number | "off">({ default: 1_000 }),
  eventsPerMinute: wholeNumber({ default: EVENT_LIMITS.eventsPerMinute, min: 1 }),
  maxFileBytes: wholeNumber({ default: 256 * 1024 * 1024, min: 1 }),
  maxLogRows: wholeNumber({ default: 100_000, min: 1 }),
  attemptsAtOnce: wholeNumber({ min: 1 }),
  patienceMs: wholeNumber({ default: 5 * SECOND, min: 1, max: MAX_NODE_TIMER }),
} satisfies OptionsOf<SandboxLimits>);

/** The defaults and checks of {@link SandboxAssumptions}. */
export const ASSUMPTION_OPTIONS = defineOptions("createSandbox", {
  // Refused here and not when the first attempt is signed.
  signature: readBy((option, changes?: Changes<SignatureAssumptions>) => resolveSignatureAssumptions(changes, option)),
  retriesOfDisabled: oneOf(["dropped", "kept"], { default: "dropped" }),
  eventsOfDisabled: oneOf(["unlogged", "logged"], { default: "unlogged" }),
  paths: given<PathOverrides>(),
  credential: given<Changes<CredentialShape>>(),
} satisfies OptionsOf<SandboxAssumptions>);

/** The defaults and checks of {@link SandboxOptions}. What has no check here is checked by the part that uses it. */
export const SANDBOX_OPTIONS = defineOptions("createSandbox", {
  clock: given<SandboxClock>({ default: "real" }),
  receiverTime: oneOf(["sandbox", "machine"]),
  seed: readBy((_, seed?: string | number) => String(seed ?? randomBytes(16).toString("hex"))),
  strictUrls: readBy(checkStrictUrls, { default: false }),
  refuseAddress: callable<RefuseAddress>(),
  addresses: readBy(lowerCase, { default: SAMPLE_WORKSPACE_ADDRESSES }),
  domains: readBy(lowerCase, { default: [SAMPLE_DOMAIN] }),
  newEventTypes: list<string>({ default: [] }),
  apiKeys: list<SandboxApiKey>(),
  members: list<MemberInput>({ default: [] }),
  contacts: list<ContactInput>({ default: SAMPLE_PEOPLE.map(([name, email]) => ({ name, email })) }),
  audiences: list<AudienceInput>({ default: [] }),
  blocklist: list<string>({ default: [] }),
  chats: list<ChatInput>({ default: [] }),
  dedicatedIps: list<string>({ default: [] }),
  domainReports: list<DomainReports>({ default: [SAMPLE_REPORTS] }),
  mailServers: list<MailServerInput>({ default: [{ domain: "mailbox.example.net" }] }),
  automations: list<SandboxAutomation>({ default: [] }),
  receive: callable<ReceiveFetch>(),
  limits: readBy((option, limits?: SandboxLimits) => LIMIT_OPTIONS.resolve(limits ?? {}, inside(option))),
  assumptions: readBy((option, open?: SandboxAssumptions) => ASSUMPTION_OPTIONS.resolve(open ?? {}, inside(option))),
  onLog: callable<(entry: SandboxLogEntry) => void>(),
} satisfies OptionsOf<SandboxOptions>);

/** The options with defaults filled in, and limits and assumptions among them. */
export type ResolvedSandboxOptions = ReturnType<typeof resolveSandboxOptions>;

/** Fills in defaults. Throws an `invalid_option` that names the option. */
export function resolveSandboxOptions(options: SandboxOptions) {
  const { limits, assumptions, strictUrls, ...rest } = SANDBOX_OPTIONS.resolve(options);
  const names = strictUrls === true ? lookUpHost : strictUrls || undefined;
  return { ...rest, ...limits, ...assumptions, strictUrls: strictUrls !== false, lookUpHost: names };
}

const inside = (option: string) => ({ place: `The option ${option} of createSandbox`, prefix: `${option}.` });

function lowerCase(option: string, names: readonly string[]): readonly string[] {
  if (Array.isArray(names)) return names.map((name: string) => name.toLowerCase());
  throw new PigeonholeError("invalid_option", `${option} must be a list.`);
}

function checkStrictUrls(option: string, value: boolean | LookUpHost): boolean | LookUpHost {
  if (typeof value === "boolean" || typeof value === "function") return value;
  throw new PigeonholeError("invalid_option", `${option} must be true, false or a function.`);
}
