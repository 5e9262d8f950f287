import { type Client, createClient } from "pigeonhole/client";
import { describe, expect, test } from "vitest";
import { waitingClock } from "#pigeonhole/base/clock.js";
import { type Contract, listOperations } from "#pigeonhole/contract/contract.js";
import { type Operation, pathNames } from "#pigeonhole/contract/operation.js";
import { openSandbox } from "../support.js";

const ADA = "ada@customer.example.com";
/** Between the times of the examples and the age that events may have. */
const NOW = Date.UTC(2026, 1, 1);
const AUDIENCE_ID = "aud_65b8f0a2c4d6e8f001234567";
const CHAT = { title: "Orders", id: "5b8f0a2c-4d6e-4f00-9123-456789abcdef" };

type Ids = Record<string, string>;

/** Makes what the examples of a resource speak of, and gives its ids by the names of path parameters. */
const MAKERS: { readonly [R in keyof Contract]: (client: Client) => Promise<Ids> } = {
  chats: () => Promise.resolve({ id: CHAT.id }),
  contactEvents: () => Promise.resolve({ email: ADA }),
  contacts: () => Promise.resolve({ email: ADA }),
  drafts: async ({ drafts }) => ({ id: (await drafts.create({ subject: "Offer" })).id }),
  files: async ({ files }) => {
    const { id } = await files.upload(Buffer.from("bytes"), { filename: "a.txt" });
    return { id };
  },
  forms: async ({ forms }) => {
    const { id } = await forms.create({ name: "News", publish: true });
    return { id, formId: id };
  },
  labels: async ({ labels }) => ({ id: (await labels.create({ name: "Sale" })).id }),
  signatures: async ({ signatures }) => {
    const html = "<p>Ada</p>";
    return { id: (await signatures.create({ address: "support@acme.example.com", name: "Old", html })).id };
  },
  webhooks: async ({ webhooks }) => {
    const { id } = await webhooks.create({ url: "http://127.0.0.1:9/" });
    await webhooks.test(id);
    const [failed] = (await webhooks.deliveries(id)).items;
    return { id, deliveryId: failed?.id ?? "" };
  },
};

/** What a call of its own needs before. */
const BEFORE: Record<string, (client: Client, ids: Ids) => Promise<Ids>> = {
  "files.revokeLink": async ({ files }, { id = "" }) => ({ linkId: (await files.createLink(id, {})).id }),
  "contacts.create": async ({ contacts }) => {
    await contacts.delete(ADA);
    return {};
  },
  "forms.starter": async ({ forms }) => ({ slug: (await forms.starters())[0]?.slug ?? "" }),
};

/** The arguments of the client for a row's example, with the ids that there are. */
function argumentsOf({ path, body, argument, uploads, query, example }: Operation, ids: Ids): unknown[] {
  const input = argument === undefined ? example.body : example.body?.[argument];
  return [
    ...pathNames(path).map((name) => ids[name] ?? example.params?.[name]),
    ...(body === undefined ? [] : [input]),
    ...(uploads === undefined ? [] : [Buffer.from("bytes")]),
    ...(query === undefined ? [] : [example.query]),
  ];
}

describe("the example of each row", () => {
  test.each(listOperations().map((row) => [`${row.resource}.${row.name}`, row] as const))(
    "the example of %s travels from the client to the sandbox and back",
    async (call, { resource, name, operation }) => {
      const sandbox = openSandbox({
        startMs: NOW,
        contacts: [{ email: ADA }],
        audiences: [{ id: AUDIENCE_ID, name: "Customers" }],
        chats: [CHAT],
        aiActions: 10,
      });
      const client = createClient({
        ...sandbox.clientOptions,
        clock: { ...waitingClock, now: () => NOW + performance.now() },
      });
      const made = await MAKERS[resource](client);
      const ids = { ...made, ...(await BEFORE[call]?.(client, made)) };
      const calls = client as unknown as Record<string, Record<string, (...args: unknown[]) => Promise<unknown>>>;
      const result = await calls[resource]?.[name]?.(...argumentsOf(operation, ids));
      // The client has read the answer by the row's schema; here is what it was asked for.
      expect(result).toBeDefined();
      const shown = operation.result?.safeParse(operation.example.result).data;
      if (typeof shown !== "object" || shown === null || Array.isArray(shown)) return;
      expect(Object.keys(result as object)).toEqual(expect.arrayContaining(Object.keys(shown)));
    },
  );
});
