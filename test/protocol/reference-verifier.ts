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
  return genuine && nowMs - ms >= -300_000 && nowMs - ms <= 300_000;
}

function spellings(digest: Buffer): Set<string> {
  const base64 = digest.toString("base64").replaceAll("=", "");
  const url = base64.replaceAll("+", "-").replaceAll("/", "_");
  // Lower-casing base64 text cannot turn it into one of these by chance: it would have to be the right digest.
  return new Set([digest.toString("hex"), base64, `${base64}=`, url, `${url}=`]);
}

function readClaim(signature?: string, timestamp?: string): { values: string[]; time: string } | undefined {
  if (signature === undefined || signature.length > 4096) return undefined;
  const unquoted = signature.replaceAll(/(^|[\s,;&"])([\w-]{1,32}=)"/g, "$1$2");
  const pieces = unquoted.split(/[\s,;&"]/).map((piece) => {
    const [key = ""] = /^[\w-]{1,32}=/.exec(piece) ?? [];
    return { key: key.toLowerCase(), value: piece.slice(key.length) };
  });
  const isTime = ({ key }: { key: string }): boolean => ["t=", "ts=", "timestamp="].includes(key);
  const values = pieces.filter((piece) => !isTime(piece) && VALUE.test(piece.value)).map(({ value }) => value);
  const inside = onlyTime(pieces.filter(isTime).map(({ value }) => value));
  const beside = onlyTime(timestamp?.split(",").map((text) => text.replaceAll(/^[ \t]+|[ \t]+$/g, "")) ?? []);
  const time = inside ?? beside;
  return time === undefined || values.length === 0 ? undefined : { values, time };
}

function onlyTime(texts: string[]): string | undefined {
  const readable = [...new Set(texts)].filter((text) => timeOf(text) !== undefined);
  return readable.length === 1 ? readable[0] : undefined;
}

function timeOf(text: string): number | undefined {
  if (/^[0-9]{1,11}$/.test(text)) return Number(`${text}000`);
  if (/^[0-9]{12,14}$/.test(text)) return Number(text);
  if (!/^\d{4}-\d\d-\d\dT(?!24)\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/.test(text))
    return undefined;
  const [day, at] = [new Date(text.slice(0, 10)), new Date(text)];
  const isDay = Number.isFinite(day.getTime()) && day.toISOString().startsWith(text.slice(0, 10));
  return isDay && Number.isFinite(at.getTime()) ? at.getTime() : undefined;
}
