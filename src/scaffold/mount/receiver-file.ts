import { existsSync } from "node:fs";
import { join } from "node:path";
import type { EventType } from "../../protocol/event-types.js";
import { namesOf, renameEvent } from "../project/event-names.js";
import { fillTemplate, keepSections, readTemplateFile } from "../project/read-template.js";
import type { AppHost } from "./app-host.js";

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

/** The text of `webhooks/receiver.*`. */
export function receiverFile({ kind, events, quote, semicolon, lineEnd }: ReceiverFileInput): string {
  const [esm, cjs] = [kind === "esm", kind === "cjs"];
  const template = keepSections(readTemplateFile("__add__/receiver.txt"), { esm, cjs });
  const text = fillTemplate(template, { export: esm ? "export " : "" })
    .replaceAll(/<!-- each event -->\n([^]*?)<!-- end event -->\n/g, (_, part: string) =>
      events.map((type) => renameEvent(part, namesOf(type))).join(""),
    )
    .replaceAll(/;$/gm, semicolon)
    .replaceAll("\n", lineEnd);
  return quote === '"' ? text : text.replaceAll('"', "'");
}

export const START_HINT = `await ${RECEIVER_NAME}.start() before the app listens: until then deliveries are answered 503`;
export const STOP_HINT = `await ${RECEIVER_NAME}.stop() when the process ends: running handlers finish (a crash loses nothing either)`;

interface PasteInput {
  kind: "esm" | "cjs";
  events: readonly EventType[];
  /** The app's folder. */
  folder: string;
  host: AppHost;
  /** Path of the new receiver file without extension, which must be free. @default "webhooks/receiver" */
  file?: string;
}

/** What to add by hand. */
export function pasteText(input: PasteInput): string {
  const { events, folder, host, file = "webhooks/receiver" } = input;
  const { place, line } = host;
  if (host.hasOwnReceiver) return `// ${place}\n${line}\n`;
  const ending = existsSync(join(folder, "tsconfig.json")) ? "ts" : "js";
  const kind = ending === "ts" ? "esm" : input.kind;
  const template = keepSections(readTemplateFile("__add__/paste.txt"), { esm: kind === "esm", cjs: kind === "cjs" });
  const receiver = receiverFile({ kind, events, quote: '"', semicolon: ";", lineEnd: "\n" });
  return fillTemplate(template, { file, ending, receiver, place, line, start: START_HINT, stop: STOP_HINT });
}
