import type { EventType } from "../../protocol/event-types.js";
import { namesOf, renameEvent } from "../project/event-names.js";
import { fillTemplate, keepSections } from "../project/fill-template.js";
import { readTemplateFile } from "../project/read-template.js";

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
