import { readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Option } from "#pigeonhole/base/options.js";
import { linked } from "./api-reference.js";
import { DIST, wordsOf } from "./declarations.js";

// Tables of options: names, defaults and what is accepted from the definitions that check them, the words from the
// docstrings of the interfaces, read from the declarations that ship.

const SRC = resolve(import.meta.dirname, "../../src");

/** Options that the documents list. */
export interface DocumentedOptions {
  /** What takes them, as in "option of `createReceiver`". */
  of: string;
  page: string;
  definition: { rows: Readonly<Record<string, Option<never, unknown>>> };
  /** The interface with the docstrings. */
  interface: string;
}

/** By page: what takes the options, and the module and the name of their definition, of which the interface follows. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  "configuration.md": [
    "createReceiver = receiver/options RECEIVER_OPTIONS",
    "retention = receiver/options RETENTION_OPTIONS",
    "repair = receiver/options REPAIR_INTERVAL",
  ],
  "handlers.md": [
    "on = dispatch/handler HANDLER_OPTIONS",
    "onBatch = dispatch/batch-handler BATCH_OPTIONS",
    "rate = dispatch/handler RATE_OPTIONS",
    "retry = dispatch/retry-policy RETRY_OPTIONS",
  ],
  "dashboard.md": ["createDashboard = dashboard/dashboard-options DASHBOARD_OPTIONS"],
  "api.md": [
    "createSqliteStore = store/sqlite/sqlite-store STORE_OPTIONS",
    "createPostgresStore = store/postgres/postgres-store POSTGRES_STORE_OPTIONS",
    "receiver.listener = http/node-mount LISTENER_OPTIONS",
    "receiver.drain = receiver/create-receiver DRAIN_OPTIONS",
    "receiver.stop = receiver/create-receiver STOP_OPTIONS",
    "receiver.inbox.list = receiver/inbox EVENT_QUERY_OPTIONS",
    "receiver.inbox.retryAll = receiver/inbox RETRY_ALL_OPTIONS",
    "receiver.inbox.backup = receiver/inbox BACKUP_OPTIONS",
    "receiver.repair = receiver/repair-endpoint REPAIR_OPTIONS",
    "receiver.inbox.erase = receiver/inbox ERASE_OPTIONS",
    "receiver.contactEvents.list = outbox/contact-events OUTBOX_QUERY_OPTIONS",
    "contactEvents.record = outbox/contact-event-record RECORD_OPTIONS",
    "rotateSecret = receiver/rotate ROTATE_OPTIONS",
    "rotateApiKey = receiver/rotate ROTATE_KEY_OPTIONS",
    "createClient = client/options CLIENT_OPTIONS",
    "credential = contract/credential-shape CREDENTIAL_OPTIONS",
    "verifySignature = protocol/verify-signature VERIFY_OPTIONS",
    "signDelivery = protocol/sign-delivery SIGN_OPTIONS",
    "signature = protocol/resolve-assumptions SIGNATURE_OPTIONS",
    "createSandbox = sandbox/options SANDBOX_OPTIONS",
    "limits = sandbox/options LIMIT_OPTIONS",
    "assumptions = sandbox/options ASSUMPTION_OPTIONS",
    "an API key of the sandbox = sandbox/access/api-key API_KEY_OPTIONS",
    "sandbox.callers.owner = sandbox/access/sandbox-callers OWNER_CALLER_OPTIONS",
    "sandbox.callers.member = sandbox/access/sandbox-callers MEMBER_CALLER_OPTIONS",
    "sandbox.callers.key = sandbox/access/sandbox-callers KEY_CALLER_OPTIONS",
    "an automation of the sandbox = sandbox/contact-events/automations AUTOMATION_OPTIONS",
    "sandbox.emit = sandbox/event-maker EMIT_OPTIONS",
    "sandbox.deliveries = sandbox/delivery/attempt-wait FILTER_OPTIONS AttemptFilter",
    "sandbox.waitFor = sandbox/delivery/attempt-wait WAIT_OPTIONS",
    "sandbox.waitForContactEvent = sandbox/contact-events/stored-events CONTACT_EVENT_WAIT_OPTIONS",
    "sandbox.listen = sandbox/sandbox-server LISTEN_OPTIONS",
    "sandbox.reset = sandbox/create-sandbox RESET_OPTIONS",
    "sampleEvent = sandbox/samples/sample-event SAMPLE_OPTIONS",
    "deliver = testing/deliver DELIVER_OPTIONS",
    "replayDirectory = testing/replay-directory REPLAY_DIRECTORY_OPTIONS",
  ],
};

async function readDefinition(page: string, place: string): Promise<DocumentedOptions> {
  const [, of = "", file = "", name = "", given] = /^(.*) = (\S+) (\w+)(?: (\w+))?$/.exec(place) ?? [];
  const specifier = `#pigeonhole/${file}.js`;
  const module = (await import(specifier)) as Record<string, DocumentedOptions["definition"]>;
  const source = readFileSync(join(SRC, `${file}.ts`), "utf8");
  const [, found] = new RegExp(`^export const ${name}\\b[\\s\\S]*?\\bOptionsOf<(\\w+)`, "m").exec(source) ?? [];
  const [definition, own] = [module[name], given ?? found];
  if (definition === undefined || own === undefined) throw new Error(`${file} defines no ${name} of an interface.`);
  return { of, page, definition, interface: own };
}

export const DOCUMENTED: readonly DocumentedOptions[] = await Promise.all(
  Object.entries(PLACES).flatMap(([page, places]) => places.map((place) => readDefinition(page, place))),
);

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

/** What is between the name and the brace of each interface, and its fields; a build leaves old declarations. */
const INTERFACES = new Map(
  readdirSync(SRC, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.startsWith("page"))
    .map((file) => readFileSync(join(DIST, file.replace(/ts$/, "d.ts")), "utf8"))
    .flatMap((text) => [...text.matchAll(/^export interface (\w+)\b([^{]*)\{\n([\s\S]*?)^\}/gm)])
    .map(([, name = "", head = "", body = ""]) => [name, { head, body }]),
);

/** The fields of an interface, and of those that it extends, by name. */
export function readFields(name: string): Map<string, DocumentedField> {
  const { head = "", body } = INTERFACES.get(name) ?? {};
  if (body === undefined) throw new Error(`No declaration has an interface ${name}.`);
  const bases = (head.match(/\w+/g) ?? []).filter((word) => INTERFACES.has(word));
  // Fields of the interface itself stand four columns in.
  const own = [...body.matchAll(/^ {4}(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n {4})?(\w+)\??:/gm)];
  return new Map([
    ...bases.flatMap((base) => [...readFields(base)]),
    ...own.map(([, comment = "", field = ""]) => [field, readComment(comment)] as const),
  ]);
}

function readComment(comment: string): DocumentedField {
  const [words = "", byDefault] = wordsOf(comment).split(/\s*@default\s+/);
  return { words: words.trim(), byDefault: byDefault?.trim() };
}

/** The table of one definition. */
export function optionTable(documented: DocumentedOptions): string {
  const fields = readFields(documented.interface);
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
