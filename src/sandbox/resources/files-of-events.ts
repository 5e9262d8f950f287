import type { Contract } from "../../contract/contract.js";
import { FILE_LIMITS } from "../../contract/files.js";
import type { ResultFields } from "../../contract/operation.js";
import type { SandboxEvent } from "../delivery/scheduled-delivery.js";
import { ownsAddress } from "../access/allowlists.js";
import { type FileStore, cleanContentType, cleanFileName } from "./file-store.js";

/** Whose message an event is about. */
const DIRECTIONS: ReadonlyMap<string, "inbound" | "outbound"> = new Map([
  ["email.received", "inbound"],
  ["email.replied", "inbound"],
  ["email.sent", "outbound"],
]);

/** What the workspace owns. */
type Owned = Parameters<typeof ownsAddress>[0];

/** Makes the files that an event is about, or removes the one that it says was deleted. */
export function keepFilesOf(event: SandboxEvent, store: FileStore, owned: Owned): void {
  const { type, data } = event;
  const id = textOrNull(data["id"]);
  const direction = DIRECTIONS.get(type);
  if (direction !== undefined) return addAttachments(event, direction, { store, owned });
  if (id === null) return;
  const known = store.files.find(id);
  // What a call of the API did is in the store already.
  if (type === "file.deleted" && known !== undefined) store.delete(known);
  if (type !== "file.uploaded" || known !== undefined) return;
  const about = { direction: "uploaded", deliveredTo: textOrNull(data["deliveredTo"]) } as const;
  store.add({ ...fileOf(readAttachment(data)), ...about, ...originOf(event) }, id);
}

function addAttachments(
  event: SandboxEvent,
  direction: "inbound" | "outbound",
  { store, owned }: { store: FileStore; owned: Owned },
): void {
  const { data, addresses } = event;
  const origin = originOf(event);
  // Two events about one message, such as a duplicate, are about the same files.
  if (origin.messageId !== null && store.hasFilesOf(direction, origin.messageId)) return;
  // A message can be for others too, such as `to` a customer and `cc` the workspace.
  const deliveredTo = addresses.find((address) => ownsAddress(owned, address)) ?? addresses[0] ?? null;
  for (const file of readAttachments(data)) store.add({ ...fileOf(file), direction, deliveredTo, ...origin });
}

/** The bytes are made when they are asked for. */
function fileOf({ filename, contentType, size }: Attachment) {
  return {
    filename: cleanFileName(filename),
    contentType: cleanContentType(contentType ?? undefined),
    size: Math.min(size ?? 0, FILE_LIMITS.maxBytes),
    data: undefined,
  };
}

function originOf({ data: { threadId, messageId }, createdAt }: SandboxEvent) {
  return { threadId: textOrNull(threadId), messageId: textOrNull(messageId), addedAtMs: Date.parse(createdAt) };
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** A file of a message, as an event names it and a draft that forwards it. */
export type Attachment = ResultFields<Contract["drafts"]["get"]>["attachments"][number];

/** The attachments in the data of an event. What has another shape or type, as a test may send it, is left out. */
export function readAttachments({ attachments }: Readonly<Record<string, unknown>>): Attachment[] {
  if (!Array.isArray(attachments)) return [];
  const isObject = (one: unknown): one is Record<string, unknown> => typeof one === "object" && one !== null;
  return attachments.filter(isObject).map(readAttachment);
}

/** The fields of one file, each left out if it has another type. */
function readAttachment({ filename, contentType, size }: Readonly<Record<string, unknown>>): Attachment {
  return {
    filename: typeof filename === "string" ? filename : "attachment",
    contentType: typeof contentType === "string" ? contentType : null,
    size: typeof size === "number" && size >= 0 ? Math.floor(size) : null,
  };
}
