import "./check-node.js";
import { createServer } from "node:http";
import { createReceiver, createSqliteStore } from "pigeonhole";
import * as z from "zod";

// Each received mail gets one draft of an answer, for a person to complete and send. The API takes no key for a draft,
// so the draft has a mark by which a later run finds it: one draft, however often the process dies.
// PIGEONHOLE_BASE_URL=… PIGEONHOLE_API_KEY=… WEBHOOK_SECRET=whsec_… npx tsx examples/prepared-answer.ts

const receiver = createReceiver({
  secrets: process.env["WEBHOOK_SECRET"] ?? "", // the whole string with whsec_
  store: createSqliteStore({
    file: process.env["DATABASE_FILE"] ?? "pigeonhole.db",
    setup: ({ db }) => db.exec("CREATE TABLE IF NOT EXISTS answer (event TEXT, draft TEXT) STRICT"),
  }),
  api: { apiKey: process.env["PIGEONHOLE_API_KEY"] ?? "", baseUrl: process.env["PIGEONHOLE_BASE_URL"] ?? "" },
  schemas: {
    "email.received": z.object({
      from: z.email(),
      to: z.array(z.email()).min(1),
      subject: z.string(),
      threadId: z.string(),
    }),
  },
});

receiver.on("email.received", async (event, { api, step, contactEvents, commit, signal }) => {
  const { from, to, subject, threadId } = event.data;
  const mark = `Ref: ${event.id}`;
  const draft = await step("draft", async () => {
    // A quoted phrase is compared as it is written.
    const { items } = await api.drafts.list({ query: `"${mark}"` }, { signal });
    const html = `<p>Thank you for your mail.</p><p>${mark}</p>`;
    const answer = { threadId, from: to[0], to: [from], subject: `Re: ${subject}`, html };
    return items[0] ?? api.drafts.create(answer, { signal });
  });
  contactEvents.record({ name: "answer.prepared", email: from, createContact: true });
  return commit(({ db }) => db.prepare("INSERT INTO answer VALUES (?, ?)").run(event.id, draft.id));
});

await receiver.start();
createServer(receiver.middleware()).listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1");
process.once("SIGTERM", () => void receiver.stop().then(() => process.exit(0)));
