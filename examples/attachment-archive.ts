import "./check-node.js";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { type HandlerContext, RetryAfter, createReceiver, createSqliteStore } from "pigeonhole";
import { NotFoundError } from "pigeonhole/client";
import * as z from "zod";

// Every attachment that arrives, and every file that is uploaded, is kept in a folder, with a row of your own. A file
// is never whole in memory, and appears in the folder when it is complete. Its name there is its id, so a second
// download replaces the first.
// ARCHIVE=… PIGEONHOLE_BASE_URL=… PIGEONHOLE_API_KEY=… WEBHOOK_SECRET=whsec_… npx tsx examples/attachment-archive.ts

const HOUR = 60 * 60_000;
const ARCHIVE = process.env["ARCHIVE"] ?? "archive";
mkdirSync(ARCHIVE, { recursive: true });
// What a process that was killed had not completed.
for (const name of readdirSync(ARCHIVE)) if (name.endsWith(".part")) rmSync(join(ARCHIVE, name));

// The id becomes a file's name, so it is one that cannot lead out of the folder.
const file = z.object({ id: z.string().regex(/^file_\w+$/), filename: z.string().nullable() });
type File = z.output<typeof file>;

const receiver = createReceiver({
  secrets: process.env["WEBHOOK_SECRET"] ?? "", // the whole string with whsec_
  store: createSqliteStore({
    file: process.env["DATABASE_FILE"] ?? "pigeonhole.db",
    setup: ({ db }) =>
      db.exec("CREATE TABLE IF NOT EXISTS archive (file TEXT PRIMARY KEY, filename TEXT, bytes INTEGER) STRICT"),
  }),
  api: { apiKey: process.env["PIGEONHOLE_API_KEY"] ?? "", baseUrl: process.env["PIGEONHOLE_BASE_URL"] ?? "" },
  schemas: {
    "email.received": z.object({ messageId: z.string(), attachments: z.array(z.unknown()) }),
    "file.uploaded": file,
  },
});

// A file of 100 MB may take its time, and one at a time takes the least memory.
const options = { timeoutMs: HOUR, concurrency: 1 };
receiver.on("file.uploaded", (event, ctx) => archive([event.data], ctx), options);
receiver.on(
  "email.received",
  async (event, ctx) => {
    const { messageId, attachments } = event.data;
    const since = new Date(Date.parse(event.createdAt) - HOUR).toISOString();
    const files: File[] = [];
    // The event names its attachments without their ids.
    for await (const one of ctx.api.files.list({ direction: "inbound", since })) {
      if (one.messageId === messageId) files.push(one);
    }
    // One that was deleted before it was listed leaves the event dead after the last run, for you to look at.
    if (files.length < attachments.length) throw new RetryAfter("The files are not listed yet.", 60_000);
    return archive(files, ctx);
  },
  options,
);

async function archive(files: readonly File[], ctx: HandlerContext): Promise<void> {
  const rows: unknown[][] = [];
  for (const { id, filename } of files) {
    // Kept as a step, so that a later run does not download again what is complete.
    const bytes = await ctx.step(`save ${id}`, () => save(id, ctx));
    if (bytes !== null) rows.push([id, filename, bytes]);
  }
  return ctx.commit(({ db }) => {
    const insert = db.prepare("INSERT OR REPLACE INTO archive VALUES (?, ?, ?)");
    for (const row of rows) insert.run(...row);
  });
}

/** The number of bytes, or null for a file that was deleted since. */
async function save(id: string, { api, signal }: HandlerContext): Promise<number | null> {
  try {
    const download = await api.files.content(id, { signal });
    return (await download.saveTo(join(ARCHIVE, id))).bytes;
  } catch (error) {
    if (error instanceof NotFoundError) return null;
    throw error;
  }
}

await receiver.start();
createServer(receiver.middleware()).listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1");
process.once("SIGTERM", () => void receiver.stop().then(() => process.exit(0)));
