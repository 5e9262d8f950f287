import { DEFAULT_ENDPOINT_PATH } from "../../protocol/endpoint-path.js";
import { eventIdOf } from "../../protocol/inbox-id.js";
import type { Capture } from "./capture.js";
import { captureRequest } from "./capture-request.js";

/** An event as a receiver's inbox keeps it. */
export interface InboxRecord {
  id: string;
  type: string;
  /** The exact bytes that were received. */
  body: Uint8Array;
  /** ISO 8601. */
  receivedAt: string;
}

/**
 * A capture of an event that a receiver accepted in production. The inbox keeps bytes, and neither path nor headers: it
 * gets the usual path, and a replay signs it again. Redact it before it leaves the machine.
 */
export function fromInbox({ id, type, body, receivedAt }: InboxRecord): Capture {
  const capture = captureRequest({
    request: { method: "POST", path: DEFAULT_ENDPOINT_PATH, headers: [["content-type", "application/json"]], body },
    receivedAt: Date.parse(receivedAt),
    source: "production",
    secrets: [],
  });
  return {
    ...capture,
    // An undecodable event has its digest as id. Prefer the envelope's own fields if they can be read.
    event: {
      id: capture.event.id ?? eventIdOf(id),
      type: capture.event.type ?? (type === "" ? null : type),
      at: capture.event.at,
    },
    verify: {
      ...capture.verify,
      summary: "Accepted by a receiver, which had verified it; its headers were not kept.",
      fix: "Replay it: that signs it again.",
    },
  };
}
