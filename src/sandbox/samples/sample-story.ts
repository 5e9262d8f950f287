import { createHash } from "node:crypto";
import { MINUTE, SECOND } from "../../base/duration.js";

/** The person and objects that a sample is about. Samples with one seed share them. */
export interface SampleStory {
  /** An identifier of 24 hex digits, the same one for the same label. */
  id(label: string): string;
  /** A time this many milliseconds after the event, as ISO 8601. */
  at(offsetMs: number): string;
  /** The person that the mail is from or to: name and address. */
  person: { name: string; address: string };
  /** The workspace's address that sent or received the mail. */
  workspaceAddress: string;
  /** Number of the order that the mail is about. */
  order: string;
  /** Subject of a mail that the workspace sends. */
  subject: string;
  /** Subject of a mail that a person sends. */
  question: string;
}

/** At least one. */
type Choices<Item> = readonly [Item, ...Item[]];

/** Name and address of the people in samples; they are contacts of the sandbox. */
export const SAMPLE_PEOPLE: Choices<readonly [name: string, address: string]> = [
  ["Ada Example", "ada@customer.example.com"],
  ["Grace Sample", "grace.sample@customer.example.com"],
  ["Linus Muster", "linus@shop.example.com"],
  ["Zoë Ørsted", "zoe.orsted@studio.example.com"],
  ["Kofi Mensah-Doe", "kofi+orders@customer.example.com"],
  ["Mei 田中", "mei.tanaka@agency.example.com"],
  ["O'Brien, Pat", "pat.obrien@shop.example.com"],
];

/** Addresses of the workspace that samples are about; the sandbox's workspace owns them. */
export const SAMPLE_WORKSPACE_ADDRESSES: Choices<string> = [
  "support@acme.example.com",
  "hello@acme.example.com",
  "billing@acme.example.com",
];

/** The domain of {@link SAMPLE_WORKSPACE_ADDRESSES}. */
export const SAMPLE_DOMAIN = "acme.example.com";

/** The records of {@link SAMPLE_DOMAIN}. */
export const SAMPLE_RECORDS = {
  mx: "inbound.mail.example.net",
  spf: "v=spf1 include:mail.example.net -all",
  dkim: "v=DKIM1; k=rsa; p=MIIB",
} as const;

/** What the record checks of the sandbox report of {@link SAMPLE_DOMAIN}. */
export const SAMPLE_REPORTS = {
  domain: SAMPLE_DOMAIN,
  dmarc: {
    record: "v=DMARC1; p=quarantine",
    tags: { v: "DMARC1", p: "quarantine" },
    stage: "quarantine",
    issues: [] as string[],
  },
  deliverability: {
    score: 95,
    grade: "A",
    checks: ["mx", "spf", "dkim", "dmarc"].map((id) => ({ id, status: "pass" })),
  },
};

const SUBJECTS: Choices<(order: string) => string> = [
  (order: string) => `Your order #${order} is on its way`,
  (order: string) => `Receipt for order #${order}`,
  () => "Reset your password",
  () => "Your weekly summary",
  (order: string) => `Invoice ${order}: due in 14 days 📄`,
];

const QUESTIONS: Choices<(order: string) => string> = [
  () => "Where is my order?",
  (order: string) => `Re: Receipt for order #${order}`,
  () => "Change of delivery address",
  () => "Frage zu meiner Rechnung",
];

/** The event's time if none is given. */
export const FIRST_SAMPLE_MS = Date.UTC(2026, 0, 1, 9);

/** Makes the story of a seed. Without a seed, it uses the first item of each list. */
export function makeStory(
  seed: string,
  options: { varied: boolean; atMs: number; workspaceAddresses: readonly string[] },
): SampleStory {
  const [first = SAMPLE_WORKSPACE_ADDRESSES[0], ...others] = options.workspaceAddresses;
  const digest = (label: string): Buffer => createHash("sha256").update(`${seed}\0${label}`).digest();
  const pick = <Item>(label: string, items: Choices<Item>): Item => {
    const index = options.varied ? digest(label).readUInt32BE() % items.length : 0;
    return items[index] ?? items[0];
  };
  const order = options.varied ? String(1000 + (digest("order").readUInt32BE() % 9000)) : "1042";
  const [name, address] = pick("person", SAMPLE_PEOPLE);
  return {
    id: (label) => digest(label).toString("hex").slice(0, 24),
    at: (offsetMs) => new Date(options.atMs + offsetMs).toISOString(),
    person: { name, address },
    workspaceAddress: pick("workspace", [first, ...others]),
    order,
    subject: pick("subject", SUBJECTS)(order),
    question: pick("question", QUESTIONS)(order),
  };
}

/** Offsets of times in samples, in milliseconds from the event. */
export const SAMPLE_TIMES = { before: -2 * SECOND, soon: 30 * MINUTE, nextDay: 24 * 60 * MINUTE } as const;
