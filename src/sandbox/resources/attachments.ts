/** A file of a message, as an event names it. */
export interface Attachment {
  filename: string;
  contentType: string | null;
  /** In bytes. */
  size: number | null;
}

/** The attachments in the data of an event. What has another shape or type, as a test may send it, is left out. */
export function readAttachments({ attachments }: Readonly<Record<string, unknown>>): Attachment[] {
  if (!Array.isArray(attachments)) return [];
  const isObject = (one: unknown): one is Record<string, unknown> => typeof one === "object" && one !== null;
  return attachments.filter(isObject).map(readAttachment);
}

/** The fields of one file, each left out if it has another type. */
export function readAttachment({ filename, contentType, size }: Readonly<Record<string, unknown>>): Attachment {
  return {
    filename: typeof filename === "string" ? filename : "attachment",
    contentType: typeof contentType === "string" ? contentType : null,
    size: typeof size === "number" && size >= 0 ? Math.floor(size) : null,
  };
}
