import { createHmac } from "node:crypto";
import { SECRET } from "../sample-delivery.js";

/** How a contestant wants its deliveries signed. */
export type Scheme = "svc" | "stripe" | "svix";

/** What is signed; `seconds` since 1970. */
export interface UnsignedMessage {
  id: string;
  seconds: number;
  body: Uint8Array;
}

/** Headers by lower-case name. */
type Headers = Record<string, string>;

const svixKey = Buffer.from(SECRET.slice("whsec_".length), "base64");

function signTimestamped({ seconds, body }: UnsignedMessage): string {
  const signature = createHmac("sha256", SECRET).update(`${seconds}.`).update(body).digest("hex");
  return `t=${seconds},v1=${signature}`;
}

const SIGNERS: Record<Scheme, (message: UnsignedMessage) => Headers> = {
  svc: (message) => ({ "x-svc-signature": signTimestamped(message) }),
  stripe: (message) => ({ "stripe-signature": signTimestamped(message) }),
  svix({ id, seconds, body }) {
    const signature = createHmac("sha256", svixKey).update(`${id}.${seconds}.`).update(body).digest("base64");
    return { "svix-id": id, "svix-timestamp": String(seconds), "svix-signature": `v1,${signature}` };
  },
};

/** The headers that carry id, time and signature. Their lengths do not depend on the message. */
export function signBody(scheme: Scheme, message: UnsignedMessage): Headers {
  return SIGNERS[scheme](message);
}
