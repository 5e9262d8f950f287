import "./check-node.js";
import { createServer } from "node:http";
import { createReceiver, createSqliteStore } from "pigeonhole";
import { type Client, ConflictError } from "pigeonhole/client";
import * as z from "zod";

// A confirmed sign-up becomes a customer: a contact with the form's answers in one more audience, a contact event that
// starts the service's automations, and a row of your own. The calls need no key, since the address is one: made again,
// they change nothing.
// AUDIENCE=aud_… PIGEONHOLE_BASE_URL=… PIGEONHOLE_API_KEY=… WEBHOOK_SECRET=… npx tsx examples/sign-up-to-crm.ts

const AUDIENCE = process.env["AUDIENCE"] ?? "";

const receiver = createReceiver({
  secrets: process.env["WEBHOOK_SECRET"] ?? "", // the whole string with whsec_
  store: createSqliteStore({
    file: process.env["DATABASE_FILE"] ?? "pigeonhole.db",
    setup: ({ db }) =>
      db.exec("CREATE TABLE IF NOT EXISTS customer (email TEXT PRIMARY KEY, name TEXT, sign_ups INTEGER) STRICT"),
  }),
  api: { apiKey: process.env["PIGEONHOLE_API_KEY"] ?? "", baseUrl: process.env["PIGEONHOLE_BASE_URL"] ?? "" },
  schemas: {
    "form.confirmed": z.object({
      formId: z.string(),
      email: z.email(),
      audienceIds: z.array(z.string()),
      answers: z.looseObject({ name: z.string().nullish() }),
    }),
  },
});

receiver.on(
  "form.confirmed",
  async (event, { api, contactEvents, commit }) => {
    const { email, formId, audienceIds, answers } = event.data;
    const { name = null } = answers;
    const { audiences } = await saveContact(api, email, name);
    // The set replaces what is there. A confirmation since then has an event of its own, which names its audiences.
    const joined = audiences.filter(({ builtin }) => builtin === null).map(({ id }) => id);
    await api.contacts.setAudiences(email, { audienceIds: [...joined, ...audienceIds, AUDIENCE] });
    contactEvents.record({ name: "signup.confirmed", email, properties: { formId } });
    // The contact event, the row and the mark that this event is done: all of them or none.
    return commit(({ db }) => {
      const sql = `INSERT INTO customer VALUES (?, ?, 1)
                   ON CONFLICT (email) DO UPDATE SET name = excluded.name, sign_ups = sign_ups + 1`;
      db.prepare(sql).run(email, name);
    });
  },
  // One person's events run one after the other, so that none of them sets audiences that another one has just changed.
  { key: (event) => event.data.email },
);

/** The contact is there if the form, someone of the team or an earlier run saved it. */
async function saveContact(api: Client, email: string, name: string | null) {
  try {
    return await api.contacts.create({ email, name });
  } catch (error) {
    if (!(error instanceof ConflictError && error.code === "contact_exists")) throw error;
    return api.contacts.update(email, { name });
  }
}

await receiver.start();
createServer(receiver.middleware()).listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1");
process.once("SIGTERM", () => void receiver.stop().then(() => process.exit(0)));
