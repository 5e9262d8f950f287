import type { EventType } from "../../protocol/event-types.js";

/** The style of the new file, like that of the app's file. */
export interface ReceiverFileInput {
  kind: "esm" | "cjs";
  events: readonly EventType[];
  quote: '"' | "'";
  semicolon: ";" | "";
  lineEnd: "\n" | "\r\n";
}

/** Name of the receiver in an existing app. */
export const RECEIVER_NAME = "mailReceiver";

const PACKAGE = '"pigeonhole"';

/** The text of `webhooks/receiver.*`. */
export function receiverFile({ kind, events, quote, semicolon, lineEnd }: ReceiverFileInput): string {
  const [load, offer] =
    kind === "esm"
      ? [`import { createReceiver } from ${PACKAGE};`, `export const ${RECEIVER_NAME}`]
      : [`const { createReceiver } = require(${PACKAGE});`, `const ${RECEIVER_NAME}`];
  const handlers = events.flatMap((type) => [
    "",
    `${RECEIVER_NAME}.on("${type}", (event, ctx) => {`,
    `  ctx.log.info({ createdAt: event.createdAt }, "${type}");`,
    "});",
  ]);
  const lines = [
    load,
    "",
    "// Receives webhooks of the mail workspace. A delivery that was answered 2xx is in the file and takes effect once.",
    "// Before the app listens: await mailReceiver.start(). At the end: await mailReceiver.stop().",
    `${offer} = createReceiver({`,
    "  // Read at start. The whole secret, whsec_ included.",
    `  secrets: () => [process.env["WEBHOOK_SECRET"] ?? ""],`,
    `  store: process.env["DATABASE_FILE"] ?? "pigeonhole.db",`,
    "  // They may quote an event, so a log of production has none.",
    `  logErrorMessages: ["development", "test"].includes(process.env["NODE_ENV"] ?? ""),`,
    "});",
    ...handlers,
    ...(kind === "cjs" ? ["", `module.exports = { ${RECEIVER_NAME} };`] : []),
    "",
  ];
  const text = lines.map((line) => (semicolon === "" ? line.replace(/;$/, "") : line)).join(lineEnd);
  return quote === '"' ? text : text.replaceAll('"', "'");
}
