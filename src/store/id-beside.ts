import { createHash } from "node:crypto";

/** Enough of the digest to tell the bodies of one id apart. */
const DIGEST_LENGTH = 16;
const OF_OTHER_BODY = new RegExp(`#[0-9a-f]{${DIGEST_LENGTH}}$`);

/** The id under which another body of an event is kept: an id of the service has no such ending. */
export function idBeside(id: string, body: Uint8Array): string {
  return `${id}#${createHash("sha256").update(body).digest("hex").slice(0, DIGEST_LENGTH)}`;
}

/** The event's own id, also of another body of it. */
export function ownEventId(id: string): string {
  return id.replace(OF_OTHER_BODY, "");
}
