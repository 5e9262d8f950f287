import type { Deadlines } from "../base/deadlines.js";
import type { Answer, Outcome } from "../protocol/outcome.js";
import type { HeaderReader } from "../protocol/raw-request.js";

/** The bytes of a body exactly as received, or the outcome when they could not be read. */
export type BodyRead =
  | { kind: "read"; body: Uint8Array }
  | Extract<Outcome, { kind: "too_large" | "body_timeout" | "body_aborted" | "body_consumed" | "overloaded" }>;

/** How much memory and time the body of one delivery may take. */
export interface BodyRoom {
  /** Limit of the body in bytes. */
  readonly maxBytes: number;
  /** How long it may take to arrive. */
  readonly deadlines: Deadlines;
  /** Not announced as short: it may come in very many chunks. */
  readonly isLong: boolean;
  /** False when so many bytes are not free besides the other bodies being received. */
  take(bytes: number): boolean;
}

/** A request as a mount passes it on. It hides what differs between platforms. */
export interface DeliveryRequest {
  method: string | undefined;
  header: HeaderReader;
  /** Called at most once. Never rejects for what the sender does. */
  readBody(room: BodyRoom): Promise<BodyRead>;
}

/** Takes a request to its answer. Never rejects: an error's own `.status` must not reach the service. */
export type DeliveryHandler = (request: DeliveryRequest) => Promise<Answer>;

/** The type of every answer's body. */
export const ANSWER_TYPE = "text/plain; charset=utf-8";
