import { answerFor, type Answer, type Outcome } from "../protocol/outcome.js";
import type { HeaderReader } from "../protocol/raw-request.js";
import { BodyShare } from "./body-budget.js";
import type { Intake } from "./intake.js";

/** The bytes of a body exactly as they came, or the outcome that stands for their absence. */
export type BodyRead =
  | { kind: "read"; body: Uint8Array }
  | Extract<Outcome, { kind: "too_large" | "body_timeout" | "body_aborted" | "body_consumed" | "overloaded" }>;

/**
 * A body that announces no more than this is counted at once, which is cheap. A larger one is counted as it comes: an announcement alone
 * must not take the room of genuine deliveries.
 */
const SMALL_BODY_BYTES = 16 * 1024;

/** The type of every answer's body. */
export const ANSWER_TYPE = "text/plain; charset=utf-8";

/** What differs between platforms on the way in. */
export interface Edge {
  method: string | undefined;
  header: HeaderReader;
  /** Called at most once, after the headers were found good. */
  readBody(share: BodyShare): Promise<BodyRead>;
}

/**
 * The order of every mount: headers, body, receive, conclude. Never rejects: an error's own `.status` must not reach the
 * service, where 404 loses the event and 410 switches the endpoint off.
 */
export async function answerRequest(intake: Intake, edge: Edge): Promise<Answer> {
  const outcome = await findOutcome(intake, edge);
  try {
    return intake.conclude(outcome, edge.header);
  } catch (error) {
    intake.reportFault(error);
    return answerFor({ kind: "internal_error" }, "retry");
  }
}

async function findOutcome(intake: Intake, edge: Edge): Promise<Outcome> {
  const { header } = edge;
  try {
    if (edge.method !== "POST") return { kind: "wrong_method" };
    // The signature covers the bytes on the wire, and inflating is how small requests become large ones.
    if (isEncoded(header("content-encoding"))) return { kind: "unsupported_encoding" };
    const refused = intake.refuseEarly(header);
    if (refused !== undefined) return refused;
    return await readAndReceive(intake, edge);
  } catch (error) {
    intake.reportFault(error);
    return { kind: "internal_error" };
  }
}

async function readAndReceive(intake: Intake, edge: Edge): Promise<Outcome> {
  const { header } = edge;
  const length = Number(header("content-length") ?? Number.NaN);
  const isSmall = length <= SMALL_BODY_BYTES;
  const share = new BodyShare(intake.bodies, { countsChunks: !isSmall });
  if (isSmall && !share.take(length)) return { kind: "overloaded" };
  try {
    const read = await edge.readBody(share);
    if (read.kind !== "read") return read;
    return await intake.receive({ header, body: read.body });
  } finally {
    share.end();
  }
}

/** An empty header names no encoding; 415 is final, so nothing is answered it without need. */
function isEncoded(contentEncoding: string | undefined): boolean {
  if (contentEncoding === undefined) return false;
  return contentEncoding.split(",").some((encoding) => !["", "identity"].includes(encoding.trim().toLowerCase()));
}
