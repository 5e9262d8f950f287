import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { type Death, type KilledExample, type KilledExampleInput, startKilledExample } from "./killed-example.js";

/** A recipe under examples/, what makes it work, and what it must have done. */
export interface Recipe {
  input: KilledExampleInput;
  /** Makes the service fire an event, through its API where it has a call for that. */
  play: (example: KilledExample, number: number) => Promise<unknown>;
  /** How many events it fires. @default 1 */
  eventsOfPlay?: number;
  /** Whether each of so many plays had its effects once. */
  check: (example: KilledExample, plays: number) => Promise<void>;
}

const SUPPORT = "support@acme.example.com";
const NEWS = { id: "aud_news", name: "News" };
const CUSTOMERS = { id: "aud_customers", name: "Customers" };
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);
const addressOf = (number: number): string => `person.${number}@customer.example.com`;
const contactEventsOf = ({ sandbox }: KilledExample): string[] =>
  sandbox.contactEvents.map(({ name, email }) => `${name} ${email}`).toSorted();

const signUp: Recipe = {
  input: {
    name: "sign-up-to-crm",
    eventTypes: ["form.confirmed"],
    env: () => ({ AUDIENCE: CUSTOMERS.id }),
    sandbox: { audiences: [NEWS, CUSTOMERS] },
  },
  async play({ client, sandbox }, number) {
    const { items } = await client.forms.list();
    const settings = { doubleOptIn: true, senderAddress: SUPPORT, audienceIds: [NEWS.id] };
    const form =
      items[0] ?? (await client.forms.create({ name: "News", starter: "newsletter", settings, publish: true }));
    await client.forms.subscribe(form.id, { email: addressOf(number), name: `Person ${number}` });
    expect(sandbox.confirmSignUp(form.id, addressOf(number))).toBe(true);
  },
  async check(example, plays) {
    const expected = numbers(plays).map((number) => ({
      email: addressOf(number),
      name: `Person ${number}`,
      sign_ups: 1,
    }));
    expect(example.rows("SELECT * FROM customer ORDER BY rowid")).toEqual(expected);
    await expect
      .poll(() => contactEventsOf(example))
      .toEqual(expected.map(({ email }) => `signup.confirmed ${email}`).toSorted());
    for (const { email, name } of expected) {
      const contact = await example.client.contacts.get(email);
      expect([contact.name, contact.audiences.map((audience) => audience.name)]).toEqual([
        name,
        ["Everyone", NEWS.name, CUSTOMERS.name],
      ]);
    }
  },
};

const answer: Recipe = {
  input: { name: "prepared-answer", eventTypes: ["email.received"] },
  async play({ sandbox }, number) {
    sandbox.emit("email.received", { from: addressOf(number), to: [SUPPORT] });
  },
  async check(example, plays) {
    const drafts = example.sandbox.rows("drafts") as { id: string; to: string[]; from: string }[];
    expect(drafts.map(({ to, from }) => [to, from])).toEqual(
      numbers(plays).map((number) => [[addressOf(number)], SUPPORT]),
    );
    const rows = example.rows<{ draft: string }>("SELECT draft FROM answer ORDER BY rowid");
    expect(rows.map(({ draft }) => draft)).toEqual(drafts.map(({ id }) => id));
    const expected = numbers(plays).map((number) => `answer.prepared ${addressOf(number)}`);
    await expect.poll(() => contactEventsOf(example)).toEqual(expected.toSorted());
  },
};

/** Larger than what a connection sends at once. */
const SIZE = 1_000_000;

const archive: Recipe = {
  input: {
    name: "attachment-archive",
    eventTypes: ["email.received", "file.uploaded"],
    env: (folder) => ({ ARCHIVE: join(folder, "archive") }),
    hasBegun: (folder) => readdirSync(join(folder, "archive")).some((name) => name.endsWith(".part")),
  },
  eventsOfPlay: 2,
  async play({ sandbox, client }, number) {
    await client.files.upload(new Uint8Array(SIZE).fill(number), { filename: `upload ${number}` });
    const attachments = [1, 2].map((part) => ({ filename: `attachment ${number}.${part}`, size: SIZE + part }));
    sandbox.emit("email.received", { to: [SUPPORT], attachments, messageId: `msg_${number}` });
  },
  async check({ client, rows, folder }, plays) {
    const files = [];
    for await (const { id, filename, size } of client.files.list({ sort: "oldest" }))
      files.push({ file: id, filename, bytes: size });
    expect(files).toHaveLength(3 * plays);
    expect(rows("SELECT * FROM archive ORDER BY file")).toEqual(files.toSorted((a, b) => (a.file < b.file ? -1 : 1)));
    expect(readdirSync(join(folder, "archive")).toSorted()).toEqual(files.map(({ file }) => file).toSorted());
    for (const { file } of files) {
      const whole = await (await client.files.content(file)).bytes();
      expect(Buffer.compare(readFileSync(join(folder, "archive", file)), whole)).toBe(0);
    }
  },
};

export const RECIPES = { "sign-up-to-crm": signUp, "prepared-answer": answer, "attachment-archive": archive };

/** An event is parked when it met four deaths. */
const MAX_DEATHS = 3;

/** Plays the recipe again and again, each time with the next deaths, and checks after each what was done. */
export async function killRecipe(
  { input, play, eventsOfPlay = 1, check }: Recipe,
  deaths: readonly Death[] | "all",
): Promise<void> {
  const example = await startKilledExample(input);
  let plays = 0;
  const playWith = async (some: readonly Death[]): Promise<void> => {
    plays += 1;
    example.deaths.push(...some);
    await play(example, plays);
    await example.untilDone(plays * eventsOfPlay);
    await check(example, plays);
  };
  // The first play shows which calls there are.
  if (deaths === "all") await playWith([]);
  const between = [...new Set(example.calls)].flatMap((call) => [
    { call, when: "before" as const },
    { call, when: "after" as const },
  ]);
  const planned = deaths === "all" ? between : deaths;
  for (let at = 0; at < planned.length; at += MAX_DEATHS) await playWith(planned.slice(at, at + MAX_DEATHS));
}
