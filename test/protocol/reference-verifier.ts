import { createHmac } from "node:crypto";

/** A delivery as the reference sees it. */
export interface ReferenceInput {
  body: Buffer;
  signature: string | undefined;
  timestamp: string | undefined;
  secrets: readonly string[];
  nowMs: number;
}

const HEX = "[0-9a-fA-F]{64}";
// 43 digits hold 258 bits: the last two are zero in the only canonical spelling.
const LAST = "[AEIMQUYcgkosw048]";
const VALUE = new RegExp(`^(?:${HEX}|[A-Za-z0-9+/]{42}${LAST}=?|[A-Za-z0-9_-]{42}${LAST}=?)$`);
const BARE = /^(?:sha256=|v1=|v1,)?([^,]*)$/s;

/**
 * Says whether a delivery is genuine, written from the rules alone and in another way than the package: with regular
 * expressions, and by comparing texts that are made from the expected bytes.
 */
export function referenceAccepts({ body, signature, timestamp, secrets, nowMs }: ReferenceInput): boolean {
  const claim = readClaim(signature, timestamp);
  if (claim === undefined) return false;
  const ms = timeOf(claim.time);
  if (ms === undefined) return false;
  const content = Buffer.concat([Buffer.from(`${claim.time}.`), body]);
  const genuine = secrets.some((secret) => {
    const spelled = spellings(createHmac("sha256", secret).update(content).digest());
    return claim.values.some((value) => spelled.has(value) || spelled.has(value.toLowerCase()));
  });
  const seconds = (nowMs - ms) / 1000;
  return genuine && seconds > -301 && seconds < 301;
}

function spellings(digest: Buffer): Set<string> {
  const base64 = digest.toString("base64").replaceAll("=", "");
  const url = base64.replaceAll("+", "-").replaceAll("/", "_");
  // Lower-casing base64 text cannot turn it into one of these by chance: it would have to be the right digest.
  return new Set([digest.toString("hex"), base64, `${base64}=`, url, `${url}=`]);
}

function readClaim(signature?: string, timestamp?: string): { values: string[]; time: string } | undefined {
  if (signature === undefined || signature.length > 4096) return undefined;
  const text = signature.replaceAll(/^[ \t]+|[ \t]+$/g, "");
  const beside = timestamp?.replaceAll(/^[ \t]+|[ \t]+$/g, "");
  const bare = text.startsWith("t=") ? undefined : BARE.exec(text)?.[1];
  if (bare !== undefined) {
    return VALUE.test(bare) && beside !== undefined ? { values: [bare], time: beside } : undefined;
  }
  const parts = text.split(",").map((part) => /^[ \t]*([\w-]{1,32})=(.*?)[ \t]*$/s.exec(part));
  const of = (key: string): string[] => parts.filter((part) => part?.[1] === key).map((part) => part?.[2] ?? "");
  const [times, values] = [of("t"), of("v1")];
  const wellFormed = parts.every((part) => part !== null) && values.every((value) => VALUE.test(value));
  if (!wellFormed || times.length > 1 || values.length === 0) return undefined;
  if (times.length === 0 && values.length > 1) return undefined;
  const time = times[0] ?? beside;
  return time === undefined ? undefined : { values, time };
}

function timeOf(text: string): number | undefined {
  if (/^[0-9]{1,11}$/.test(text)) return Number(`${text}000`);
  if (/^[0-9]{12,14}$/.test(text)) return Number(text);
  // Only dates that JavaScript writes the same way are generated here; timestamp.test.ts has the table.
  const date = new Date(text);
  return Number.isFinite(date.getTime()) && date.toISOString() === text ? date.getTime() : undefined;
}
