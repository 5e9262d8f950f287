import { randomBytes } from "node:crypto";
import { MAX_NODE_TIMER } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { PigeonholeError } from "../base/error.js";
import {
  type OptionsOf,
  type Resolved,
  callable,
  defineOptions,
  flag,
  given,
  list,
  oneOf,
  readBy,
  wholeNumber,
} from "../base/options.js";
import type { PathOverrides } from "../contract/bind-operations.js";
import { EVENT_LIMITS } from "../contract/contact-event.js";
import type { CredentialShape } from "../contract/credential-shape.js";
import type { SignatureAssumptions } from "../protocol/assumptions.js";
import { LIMITS } from "../protocol/limits.js";
import { resolveSignatureAssumptions } from "../protocol/resolve-assumptions.js";
import type { SandboxApiKey } from "./api/api-key-registry.js";
import type { SandboxAutomation } from "./contact-events/automations.js";
import type { ContactInput } from "./contact-events/contact-list.js";
import type { LookUpHost, RefuseAddress } from "./delivery/check-target.js";
import type { ReceiveFetch } from "./delivery/send-in-process.js";
import { LATEST_MS } from "./latest-time.js";
import type { SandboxLogEntry } from "./log-entry.js";
import { SAMPLE_DOMAIN, SAMPLE_PEOPLE, SAMPLE_WORKSPACE_ADDRESSES } from "./samples/sample-story.js";
import type { SandboxClock } from "./sandbox-time.js";

export interface SandboxOptions {
  /**
   * The clock and its speed. With `"manual"`, time passes only in `advance`, `advanceToNextAttempt` and `waitFor`, so
   * that 28 hours of retries take milliseconds.
   *
   * @default "real"
   */
  clock?: SandboxClock;
  /**
   * Start time of a manual clock, in milliseconds since 1970. @default 2026-01-01T00:00:00Z, or now with `receiverTime:
   * "machine"`
   */
  startMs?: number;
  /**
   * The clock that the receiver uses: signatures have its time, and `occurredAt` is compared with it. `"sandbox"`: the
   * receiver shares `sandbox.clock`; `"machine"`: it uses real time.
   *
   * @default "machine" with `{ speed }`, or else "sandbox"
   */
  receiverTime?: "sandbox" | "machine";
  /** Seed of ids, secrets, sample data, jitter of waits, and probabilities of faults. @default chosen at random */
  seed?: string | number;
  /**
   * Enforces the documented URL rule for endpoints, and resolves names on every delivery. @default false: any http or
   * https URL
   */
  strictUrls?: boolean;
  /** Finds the IP addresses of a host under `strictUrls`. @default the machine's resolver */
  lookUpHost?: LookUpHost;
  /**
   * Returns why an IP address must not be connected to, or undefined if it may. Called for every attempt over HTTP. A
   * refused attempt is recorded as failed with that reason.
   *
   * @default every address is allowed
   */
  refuseAddress?: RefuseAddress;
  /** Most endpoints of the workspace. @default 10 */
  maxEndpoints?: number;
  /** Addresses that the workspace owns. @default those of the samples */
  addresses?: readonly string[];
  /** Domains that it owns, with every address in them. @default ["acme.example.com"] */
  domains?: readonly string[];
  /** Event types that the service knows and this package does not yet. @default [] */
  newEventTypes?: readonly string[];
  /** API keys; `sandbox.apiKey` is the first. @default one live key with every scope, made from the seed */
  apiKeys?: readonly SandboxApiKey[];
  /** Contacts to begin with. @default the people of the samples */
  contacts?: readonly ContactInput[];
  /** What an event for an unknown address does without `createContact`. @default "refuse" */
  unknownContacts?: "refuse" | "create";
  /** Automations that contact events can start. @default [] */
  automations?: readonly SandboxAutomation[];
  /** Contact events a minute for each key. @default 600 */
  eventsPerMinute?: number;
  /**
   * Overrides for points about the signature that the service's documentation leaves open. @default
   * SIGNATURE_ASSUMPTIONS
   */
  signature?: Partial<SignatureAssumptions>;
  /** What happens to planned retries when their endpoint is switched off; not documented. @default "dropped" */
  retriesOfDisabled?: "dropped" | "kept";
  /** Other paths of the API, as for createClient. @default those of the contract */
  paths?: PathOverrides;
  /** How the API key travels, as for createClient. @default `Authorization: Bearer <key>` */
  credential?: Partial<CredentialShape>;
  /** Receives the deliveries without a socket, such as `receiver.fetch`. @default over HTTP */
  receive?: ReceiveFetch;
  /** Most attempts at the same time. @default 1 with a manual clock, so that every run is the same, otherwise 64 */
  attemptsAtOnce?: number;
  /** Real milliseconds after which a manual clock continues without a receiver's answer. @default 5,000 */
  patienceMs?: number;
  /** Most rows of all delivery logs together. @default 100,000 */
  maxLogRows?: number;
  /** Receives an entry for everything that happens. */
  onLog?: (entry: SandboxLogEntry) => void;
}

const OPTION_NAMES: OptionNames<SandboxOptions> = {
  clock: true,
  startMs: true,
  receiverTime: true,
  seed: true,
  strictUrls: true,
  lookUpHost: true,
  refuseAddress: true,
  maxEndpoints: true,
  addresses: true,
  domains: true,
  newEventTypes: true,
  apiKeys: true,
  contacts: true,
  unknownContacts: true,
  automations: true,
  eventsPerMinute: true,
  signature: true,
  retriesOfDisabled: true,
  paths: true,
  credential: true,
  receive: true,
  attemptsAtOnce: true,
  patienceMs: true,
  maxLogRows: true,
  onLog: true,
};

/** The options, with defaults filled in. */
export type ResolvedSandboxOptions = SandboxOptions &
  Required<
    Pick<
      SandboxOptions,
      "clock" | "strictUrls" | "maxEndpoints" | "addresses" | "domains" | "newEventTypes" | "contacts" | "maxLogRows"
    > &
      Pick<SandboxOptions, "retriesOfDisabled" | "onLog" | "unknownContacts" | "automations">
  > & { seed: string };

/** Fills in defaults. Throws an `invalid_option` that names the option. */
export function resolveSandboxOptions(options: SandboxOptions): ResolvedSandboxOptions {
  checkOptionNames("createSandbox", options, OPTION_NAMES);
  const { maxEndpoints = LIMITS.endpointsPerWorkspace, maxLogRows = 100_000, retriesOfDisabled = "dropped" } = options;
  const { receiverTime = "sandbox", unknownContacts = "refuse", addresses, domains = [SAMPLE_DOMAIN] } = options;
  checkChoice("retriesOfDisabled", retriesOfDisabled, ["dropped", "kept"]);
  checkChoice("receiverTime", receiverTime, ["sandbox", "machine"]);
  checkChoice("unknownContacts", unknownContacts, ["refuse", "create"]);
  for (const list of ["addresses", "domains", "newEventTypes", "contacts", "automations", "apiKeys"] as const) {
    const value: unknown = options[list];
    if (value !== undefined && !Array.isArray(value))
      throw new PigeonholeError("invalid_option", `${list} must be a list.`);
  }
  for (const name of ["receive", "lookUpHost", "refuseAddress", "onLog"] as const) {
    const value: unknown = options[name];
    if (value !== undefined && typeof value !== "function") {
      throw new PigeonholeError("invalid_option", `${name} must be a function.`);
    }
  }
  // Refused here and not when the first attempt is signed.
  resolveSignatureAssumptions(options.signature, "signature");
  if (options.startMs !== undefined) checkStart(options.startMs, options.clock);
  return {
    ...options,
    clock: options.clock ?? "real",
    seed: String(options.seed ?? randomBytes(16).toString("hex")),
    strictUrls: options.strictUrls ?? false,
    maxEndpoints: checkWholeNumber("maxEndpoints", maxEndpoints, { min: 0 }),
    addresses: (addresses ?? SAMPLE_WORKSPACE_ADDRESSES).map((address) => address.toLowerCase()),
    domains: domains.map((domain) => domain.toLowerCase()),
    newEventTypes: options.newEventTypes ?? [],
    contacts: options.contacts ?? SAMPLE_PEOPLE.map(([name, email]) => ({ name, email })),
    unknownContacts,
    automations: options.automations ?? [],
    maxLogRows: checkWholeNumber("maxLogRows", maxLogRows, { min: 1 }),
    retriesOfDisabled,
    onLog: options.onLog ?? (() => {}),
  };
}

function checkStart(startMs: number, clock: SandboxClock = "real"): void {
  checkWholeNumber("startMs", startMs, { min: 0, max: LATEST_MS });
  if (clock === "manual") return;
  throw new PigeonholeError(
    "invalid_option",
    'startMs is where clock: "manual" begins; leave it out for other clocks.',
  );
}

function lowerCase(option: string, names: readonly string[]): readonly string[] {
  if (Array.isArray(names)) return names.map((name: string) => name.toLowerCase());
  throw new PigeonholeError("invalid_option", `${option} must be a list.`);
}
