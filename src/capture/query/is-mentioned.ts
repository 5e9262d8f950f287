import type { MentionsEmail } from "../../base/mentions-email.js";
import type { Capture } from "../model/capture.js";
import { decodeBody } from "../model/captured-body.js";

/** True when a capture mentions the address anywhere: in its request, its attempts and their answers, or its note. */
export function isMentionedIn(capture: Capture, mentions: MentionsEmail): boolean {
  const { request, attempts } = capture;
  const bodies = [request.body, ...attempts.flatMap(({ sentBody, body }) => [sentBody, body])];
  return mentions(JSON.stringify(capture)) || bodies.some((body) => body !== null && mentions(decodeBody(body)));
}
