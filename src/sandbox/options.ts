import { randomBytes } from "node:crypto";
import { PigeonholeError } from "../base/error.js";
import { type OptionNames, checkOptionNames, checkWholeNumber } from "../base/option-check.js";
import type { PathOverrides } from "../contract/bind-operations.js";
import type { CredentialShape } from "../contract/credential-shape.js";
import type { SignatureAssumptions } from "../protocol/assumptions.js";
import { LIMITS } from "../protocol/limits.js";
import { resolveSignatureAssumptions } from "../protocol/resolve-assumptions.js";
import type { SandboxApiKey } from "./api/api-keys.js";
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
   * What time it is, and how fast it passes. Under `"manual"` it passes only in `advance`, `advanceToNextAttempt` and
   * `waitFor`, so that 28 hours of retries take milliseconds.
   *
   * @default "real"
   */
  clock?: SandboxClock;
  /** Where a manual clock begins, in milliseconds since 1970. @default 2026-01-01T00:00:00Z, or now with `receiverTime: "machine"` */
  startMs?: number;
  /**
   * The clock that the receiver lives by: signatures carry its time, and `occurredAt` is compared with it. `"sandbox"`: the
   * receiver shares `sandbox.clock`; `"machine"`: it goes by the real time.
   *
   * @default "machine" with `{ speed }`, or else "sandbox"
   */
  receiverTime?: "sandbox" | "machine";
  /** Decides ids, secrets, sample data, the variation of waits, and chance in faults. @default chosen at random */
  seed?: string | number;
  /** Holds endpoints to the documented URL rule, names looked up on every delivery. @default false: any http or https URL */
  strictUrls?: boolean;
  /** Finds the IP addresses of a host under `strictUrls`. @default the machine's resolver */
  lookUpHost?: LookUpHost;
  /**
   * Says why an IP address is not to be connected to, or undefined where it may. It is asked at every attempt over HTTP; a refused one
   * is recorded as failed with that reason.
   *
   * @default every address may
   */
  refuseAddress?: RefuseAddress;
  /** Most endpoints of the workspace. @default 10 */
  maxEndpoints?: number;
  /** Addresses that the workspace owns. @default those of the samples */
  addresses?: readonly string[];
  /** Domains that it owns with every address. @default ["acme.example.com"] */
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
  /** Where the documents leave the signature open. @default SIGNATURE_ASSUMPTIONS */
  signature?: Partial<SignatureAssumptions>;
  /** What becomes of planned retries when their endpoint is switched off; not shown. @default "dropped" */
  retriesOfDisabled?: "dropped" | "kept";
  /** Other paths of the API, as for createClient. @default those of the contract */
  paths?: PathOverrides;
  /** How the API key travels, as for createClient. @default `Authorization: Bearer <key>` */
  credential?: Partial<CredentialShape>;
  /** Takes the deliveries in place of a socket, such as `receiver.fetch`. @default over HTTP */
  receive?: ReceiveFetch;
  /** Attempts on their way at once. @default 1 under a manual clock, which makes every run the same, or else 64 */
  attemptsAtOnce?: number;
  /** Real milliseconds after which a manual clock goes on without a receiver's answer. @default 5,000 */
  patienceMs?: number;
  /** Rows that the delivery logs keep, all together. @default 100,000 */
  mostLogRows?: number;
  /** Hears of everything that happens. */
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
  mostLogRows: true,
  onLog: true,
};

/** What every sandbox has to have, filled in. */
export type ResolvedSandboxOptions = SandboxOptions &
  Required<
    Pick<
      SandboxOptions,
      "clock" | "strictUrls" | "maxEndpoints" | "addresses" | "domains" | "newEventTypes" | "contacts" | "mostLogRows"
    > &
      Pick<SandboxOptions, "retriesOfDisabled" | "onLog" | "unknownContacts" | "automations">
  > & { seed: string };

/** Fills in defaults; throws `invalid_option` naming the option. What belongs to a part is checked by that part. */
export function resolveSandboxOptions(options: SandboxOptions): ResolvedSandboxOptions {
  checkOptionNames("createSandbox", options, OPTION_NAMES);
  const { maxEndpoints = LIMITS.endpointsPerWorkspace, mostLogRows = 100_000, retriesOfDisabled = "dropped" } = options;
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
    mostLogRows: checkWholeNumber("mostLogRows", mostLogRows, { min: 1 }),
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

function checkChoice(option: string, value: string, choices: readonly string[]): void {
  if (choices.includes(value)) return;
  throw new PigeonholeError(
    "invalid_option",
    `${option} must be ${choices.map((choice) => `"${choice}"`).join(" or ")}.`,
  );
}
