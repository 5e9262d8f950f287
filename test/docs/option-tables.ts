import { DASHBOARD_OPTIONS } from "#pigeonhole/dashboard/dashboard-options.js";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Option } from "#pigeonhole/base/options.js";
import { CLIENT_OPTIONS } from "#pigeonhole/client/options.js";
import { CREDENTIAL_OPTIONS } from "#pigeonhole/contract/credential-shape.js";
import { RECORD_OPTIONS } from "#pigeonhole/outbox/contact-event-record.js";
import { BATCH_OPTIONS } from "#pigeonhole/dispatch/batch-handler.js";
import { HANDLER_OPTIONS, RATE_OPTIONS } from "#pigeonhole/dispatch/handler.js";
import { RETRY_OPTIONS } from "#pigeonhole/dispatch/retry-policy.js";
import { LISTENER_OPTIONS } from "#pigeonhole/http/node-mount.js";
import { SIGNATURE_OPTIONS } from "#pigeonhole/protocol/resolve-assumptions.js";
import { SIGN_OPTIONS } from "#pigeonhole/protocol/sign-delivery.js";
import { VERIFY_OPTIONS } from "#pigeonhole/protocol/verify-signature.js";
import { OUTBOX_QUERY_OPTIONS } from "#pigeonhole/outbox/contact-events.js";
import { DRAIN_OPTIONS, STOP_OPTIONS } from "#pigeonhole/receiver/create-receiver.js";
import { BACKUP_OPTIONS, ERASE_OPTIONS, EVENT_QUERY_OPTIONS, RETRY_ALL_OPTIONS } from "#pigeonhole/receiver/inbox.js";
import { RECEIVER_OPTIONS, REPAIR_INTERVAL, RETENTION_OPTIONS } from "#pigeonhole/receiver/options.js";
import { REPAIR_OPTIONS } from "#pigeonhole/receiver/repair-endpoint.js";
import { ROTATE_KEY_OPTIONS, ROTATE_OPTIONS } from "#pigeonhole/receiver/rotate.js";
import {
  KEY_CALLER_OPTIONS,
  MEMBER_CALLER_OPTIONS,
  OWNER_CALLER_OPTIONS,
} from "#pigeonhole/sandbox/access/sandbox-callers.js";
import { API_KEY_OPTIONS } from "#pigeonhole/sandbox/access/api-key.js";
import { FILTER_OPTIONS, WAIT_OPTIONS } from "#pigeonhole/sandbox/delivery/attempt-wait.js";
import { CONTACT_EVENT_WAIT_OPTIONS } from "#pigeonhole/sandbox/contact-events/event-log.js";
import { AUTOMATION_OPTIONS } from "#pigeonhole/sandbox/contact-events/automations.js";
import { RESET_OPTIONS } from "#pigeonhole/sandbox/create-sandbox.js";
import { EMIT_OPTIONS } from "#pigeonhole/sandbox/event-maker.js";
import { ASSUMPTION_OPTIONS, LIMIT_OPTIONS, SANDBOX_OPTIONS } from "#pigeonhole/sandbox/options.js";
import { LISTEN_OPTIONS } from "#pigeonhole/sandbox/sandbox-server.js";
import { SAMPLE_OPTIONS } from "#pigeonhole/sandbox/samples/sample-event.js";
import { POSTGRES_STORE_OPTIONS } from "#pigeonhole/store/postgres/postgres-store.js";
import { STORE_OPTIONS } from "#pigeonhole/store/sqlite/sqlite-store.js";
import { DELIVER_OPTIONS } from "#pigeonhole/testing/deliver.js";
import { REPLAY_DIRECTORY_OPTIONS } from "#pigeonhole/testing/replay-directory.js";
import { linked } from "./api-reference.js";
import { DIST, wordsOf } from "./declarations.js";

// Tables of options: names, defaults and what is accepted from the definitions that check them, the words from the
// docstrings of the interfaces, read from the declarations that ship.

/** Options that the documents list. */
export interface DocumentedOptions {
  /** What takes them, as in "option of `createReceiver`". */
  of: string;
  page: string;
  definition: { rows: Readonly<Record<string, Option<never, unknown>>> };
  /** Interfaces with the docstrings, each as its declaration file and its name. */
  interfaces: readonly string[];
}

const listed = (
  page: string,
  of: string,
  definition: DocumentedOptions["definition"],
  ...interfaces: DocumentedOptions["interfaces"]
): DocumentedOptions => ({ of, page, definition, interfaces });

const CALLERS = "sandbox/access/sandbox-callers";

export const DOCUMENTED: readonly DocumentedOptions[] = [
  listed("configuration.md", "createReceiver", RECEIVER_OPTIONS, "receiver/options ReceiverOptions"),
  listed("configuration.md", "retention", RETENTION_OPTIONS, "receiver/options Retention"),
  listed("configuration.md", "repair", REPAIR_INTERVAL, "receiver/options RepairInterval"),
  listed("handlers.md", "on", HANDLER_OPTIONS, "dispatch/handler HandlerSettings"),
  listed("handlers.md", "onBatch", BATCH_OPTIONS, "dispatch/batch-handler BatchOptions"),
  listed("handlers.md", "rate", RATE_OPTIONS, "dispatch/handler RunRate"),
  listed("handlers.md", "retry", RETRY_OPTIONS, "dispatch/retry-policy RetryPolicy", "base/retry-wait Backoff"),
  listed("dashboard.md", "createDashboard", DASHBOARD_OPTIONS, "dashboard/dashboard-options DashboardOptions"),
  listed("api.md", "createSqliteStore", STORE_OPTIONS, "store/sqlite/sqlite-store SqliteStoreOptions"),
  listed("api.md", "createPostgresStore", POSTGRES_STORE_OPTIONS, "store/postgres/postgres-store PostgresStoreOptions"),
  listed("api.md", "receiver.listener", LISTENER_OPTIONS, "http/node-mount ListenerOptions"),
  listed("api.md", "receiver.drain", DRAIN_OPTIONS, "receiver/receiver DrainOptions"),
  listed("api.md", "receiver.stop", STOP_OPTIONS, "receiver/receiver StopOptions"),
  listed(
    "api.md",
    "receiver.inbox.list",
    EVENT_QUERY_OPTIONS,
    "store/inbox-view EventQuery",
    "store/inbox-view WorkChoice",
  ),
  listed("api.md", "receiver.inbox.retryAll", RETRY_ALL_OPTIONS, "receiver/inbox RetryAllQuery"),
  listed("api.md", "receiver.inbox.backup", BACKUP_OPTIONS, "receiver/inbox BackupOptions"),
  listed("api.md", "receiver.repair", REPAIR_OPTIONS, "receiver/repair-endpoint RepairOptions"),
  listed("api.md", "receiver.inbox.erase", ERASE_OPTIONS, "store/erase EraseOptions"),
  listed(
    "api.md",
    "receiver.contactEvents.list",
    OUTBOX_QUERY_OPTIONS,
    "store/outbox OutboxQuery",
    "store/outbox ContactEventChoice",
  ),
  listed("api.md", "contactEvents.record", RECORD_OPTIONS, "outbox/contact-event-record RecordOptions"),
  listed("api.md", "rotateSecret", ROTATE_OPTIONS, "receiver/rotate RotateSecretOptions"),
  listed("api.md", "rotateApiKey", ROTATE_KEY_OPTIONS, "receiver/rotate RotateApiKeyOptions"),
  listed("api.md", "createClient", CLIENT_OPTIONS, "client/options ClientOptions"),
  listed("api.md", "credential", CREDENTIAL_OPTIONS, "contract/credential-shape CredentialShape"),
  listed("api.md", "verifySignature", VERIFY_OPTIONS, "protocol/verify-signature VerifySignatureInput"),
  listed("api.md", "signDelivery", SIGN_OPTIONS, "protocol/sign-delivery SignDeliveryInput"),
  listed("api.md", "signature", SIGNATURE_OPTIONS, "protocol/signature-assumptions SignatureAssumptions"),
  listed("api.md", "createSandbox", SANDBOX_OPTIONS, "sandbox/options SandboxOptions"),
  listed("api.md", "limits", LIMIT_OPTIONS, "sandbox/options SandboxLimits"),
  listed("api.md", "assumptions", ASSUMPTION_OPTIONS, "sandbox/options SandboxAssumptions"),
  listed("api.md", "an API key of the sandbox", API_KEY_OPTIONS, "sandbox/access/api-key SandboxApiKey"),
  listed("api.md", "sandbox.callers.owner", OWNER_CALLER_OPTIONS, `${CALLERS} CallerRights`, `${CALLERS} OwnerCaller`),
  listed(
    "api.md",
    "sandbox.callers.member",
    MEMBER_CALLER_OPTIONS,
    `${CALLERS} CallerRights`,
    `${CALLERS} OwnerCaller`,
    `${CALLERS} MemberCaller`,
  ),
  listed("api.md", "sandbox.callers.key", KEY_CALLER_OPTIONS, `${CALLERS} CallerRights`, `${CALLERS} KeyCaller`),
  listed(
    "api.md",
    "an automation of the sandbox",
    AUTOMATION_OPTIONS,
    "sandbox/contact-events/automations SandboxAutomation",
  ),
  listed("api.md", "sandbox.emit", EMIT_OPTIONS, "sandbox/control/sandbox EmitOptions"),
  listed("api.md", "sandbox.deliveries", FILTER_OPTIONS, "sandbox/delivery/attempt-log AttemptFilter"),
  listed(
    "api.md",
    "sandbox.waitFor",
    WAIT_OPTIONS,
    "sandbox/delivery/attempt-log AttemptFilter",
    "sandbox/delivery/attempt-wait AttemptWait",
  ),
  listed(
    "api.md",
    "sandbox.waitForContactEvent",
    CONTACT_EVENT_WAIT_OPTIONS,
    "sandbox/contact-events/event-log ContactEventWait",
  ),
  listed("api.md", "sandbox.listen", LISTEN_OPTIONS, "sandbox/control/sandbox SandboxListenOptions"),
  listed("api.md", "sandbox.reset", RESET_OPTIONS, "sandbox/control/sandbox SandboxResetOptions"),
  listed("api.md", "sampleEvent", SAMPLE_OPTIONS, "sandbox/samples/sample-event SampleOptions"),
  listed("api.md", "deliver", DELIVER_OPTIONS, "testing/deliver DeliverOptions"),
  listed(
    "api.md",
    "replayDirectory",
    REPLAY_DIRECTORY_OPTIONS,
    "testing/replay-directory ReplayDirectoryOptions",
    "capture/tests/run-capture-tests CaptureTestRules",
  ),
];

/** Those of which the pages have a table: of three options or more. Fewer are read where they are typed. */
export const LISTED = DOCUMENTED.filter(({ definition }) => Object.keys(definition.rows).length > 2);

/** Options that share some with others, which their table leaves to the other one. */
const BESIDE: Readonly<Record<string, string>> = {
  onBatch: "on",
  "sandbox.waitFor": "sandbox.deliveries",
  "sandbox.callers.member": "sandbox.callers.owner",
  "sandbox.callers.key": "sandbox.callers.owner",
};

/** A field of an interface: its docstring without tags, and the text behind `@default`. */
export interface DocumentedField {
  words: string;
  byDefault: string | undefined;
}

/** The fields of the interfaces by name. */
export function readFields({ interfaces }: DocumentedOptions): Map<string, DocumentedField> {
  const fields = new Map<string, DocumentedField>();
  for (const [file = "", name = ""] of interfaces.map((place) => place.split(" "))) {
    const text = readFileSync(join(DIST, `${file}.d.ts`), "utf8");
    const body = new RegExp(`^export interface ${name}\\b[^{]*\\{\n([\\s\\S]*?)^\\}`, "m").exec(text)?.[1];
    if (body === undefined) throw new Error(`${file} declares no interface ${name}.`);
    // Fields of the interface itself stand four columns in.
    const found = body.matchAll(/^ {4}(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n {4})?(\w+)\??:/gm);
    for (const [, comment = "", field = ""] of found) fields.set(field, readComment(comment));
  }
  return fields;
}

function readComment(comment: string): DocumentedField {
  const [words = "", byDefault] = wordsOf(comment).split(/\s*@default\s+/);
  return { words: words.trim(), byDefault: byDefault?.trim() };
}

/** The table of one definition. */
export function optionTable(documented: DocumentedOptions): string {
  const fields = readFields(documented);
  const of = /^[\w.]+$/.test(documented.of) ? `\`${documented.of}\`` : documented.of;
  const beside = DOCUMENTED.find((other) => other.of === BESIDE[documented.of]);
  const shared = Object.keys(beside?.definition.rows ?? {}).filter((name) => name in documented.definition.rows);
  const own = Object.entries(documented.definition.rows).filter(([name]) => !shared.includes(name));
  const rows = own.map(([name, option]) => {
    const { words = "", byDefault = defaultText(name, option) } = fields.get(name) ?? {};
    const accepted = acceptedText(name, option);
    const cells = [
      `\`${name}\``,
      [linked(words), noteOf(option, asCode(byDefault), accepted)].filter(Boolean).join(" "),
    ];
    return `| ${cells.map((cell) => cell.replaceAll("|", String.raw`\|`)).join(" | ")} |`;
  });
  const all = shared.length === Object.keys(beside?.definition.rows ?? {}).length;
  const named = all ? "those" : shared.map((name) => `\`${name}\``).join(", ");
  const others = beside === undefined ? "" : `, beside ${named} of \`${beside.of}\``;
  return [`| option of ${of}${others} | |`, "|---|---|", ...rows].join("\n");
}

/** Whether an option is required, its default and what it accepts. */
function noteOf({ required }: Option<never, unknown>, byDefault: string, accepted: string): string {
  if (required === true) return "Required.";
  if (byDefault === "" || byDefault === "none") return accepted === "" ? "" : `${accepted}.`;
  return `Default: ${byDefault}${accepted === "" ? "" : ` (${accepted})`}.`;
}

/** Empty where there is none. */
function defaultText(name: string, { required, default: byDefault }: Option<never, unknown>): string {
  if (required === true) return "";
  if (typeof byDefault === "number") return quantity(name, byDefault);
  return typeof byDefault === "string" || typeof byDefault === "boolean" ? JSON.stringify(byDefault) : "";
}

/** Values and names of code in code's letters; sentences as they are. */
function asCode(text: string): string {
  const isCode = /^(?:true|false|"[^"]*"|'[^']*'|\[.*\]|[A-Z]+_[A-Z]+|\w+\.\w+(?:\(\))?)$/.test(text);
  return isCode ? `\`${text}\`` : text;
}

function acceptedText(name: string, { range, choices }: Option<never, unknown>): string {
  if (choices !== undefined) return choices.map((choice) => `\`"${choice}"\``).join(", ");
  if (range === undefined) return "";
  const { min, max } = range;
  return max === undefined ? `${quantity(name, min)} or more` : `${quantity(name, min)} to ${quantity(name, max)}`;
}

const [HOUR, DAY, YEAR] = [3_600_000, 86_400_000, 366 * 86_400_000];

/** Long times in days and hours. */
function quantity(name: string, value: number): string {
  if (name.endsWith("Ms") && value >= HOUR && value < YEAR) {
    if (value % DAY === 0) return `${value / DAY} days`;
    if (value % HOUR === 0) return `${value / HOUR} hours`;
  }
  return value.toLocaleString("en");
}

const UNITS: Record<string, number> = { MiB: 1024 ** 2, hours: 3_600_000, minutes: 60_000, days: 86_400_000 };

/** The value that the text behind `@default` states; undefined when it describes one in words. */
export function statedDefault(text: string): unknown {
  const [, count, unit = ""] = /^`?([\d,.]+)`?(?: (MiB|hours|minutes|days))?$/.exec(text) ?? [];
  if (count !== undefined) return Number(count.replaceAll(",", "")) * (UNITS[unit] ?? 1);
  const [, word] = /^`?(true|false)`?$/.exec(text) ?? [];
  if (word !== undefined) return word === "true";
  return /^`?["']([^"']*)["']`?$/.exec(text)?.[1];
}
