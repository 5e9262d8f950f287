import type { Capture } from "./capture.js";
import { captureRequest } from "./capture-request.js";

/** An event as a receiver's inbox keeps it. */
export interface InboxRecord {
  id: string;
  type: string;
  /** The exact bytes that were received. */
  body: Uint8Array;
  /** Milliseconds since 1970. */
  receivedAt: number;
}

/**
 * A capture of what a receiver has taken in production. The inbox keeps bytes and no headers, so there is no signature: a
 * replay signs anew. Redact it before it leaves the machine.
 */
export function fromInbox({ id, type, body, receivedAt }: InboxRecord): Capture {
  const capture = captureRequest({
    request: { method: "POST", path: "/", headers: [["content-type", "application/json"]], body },
    receivedAt,
    source: "production",
    secrets: [],
  });
  return {
    ...capture,
    // What could not be decoded is known by its digest; the envelope's own words are better where they can be read.
    event: {
      id: capture.event.id ?? id,
      type: capture.event.type ?? (type === "" ? null : type),
      at: capture.event.at,
    },
    verify: {
      ...capture.verify,
      summary: "Taken by a receiver, which had verified it; its headers were not kept.",
      fix: "Replay it: that signs it anew.",
    },
  };
}
