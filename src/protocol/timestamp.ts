const SECONDS_DIGITS = 11;
const MILLISECONDS_DIGITS = 14;
const MAX_ISO_LENGTH = 40;
const ISO =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/**
 * Reads the timestamp of a signature as milliseconds since 1970: up to 11 digits are seconds, 12 to 14 digits are
 * milliseconds, otherwise ISO 8601 with a zone. Undefined for anything else; `parseInt` would take `123junk`.
 */
export function parseTimestamp(text: string): number | undefined {
  if (isDigits(text)) {
    if (text.length <= SECONDS_DIGITS) return Number(text) * 1000;
    return text.length <= MILLISECONDS_DIGITS ? Number(text) : undefined;
  }
  return text.length <= MAX_ISO_LENGTH ? parseIso(text) : undefined;
}

/** True for one or more of the digits 0 to 9 and nothing else. */
export function isDigits(text: string): boolean {
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code < 48 || code > 57) return false;
  }
  return text.length > 0;
}

function parseIso(text: string): number | undefined {
  const match = ISO.exec(text);
  if (match === null) return undefined;
  const [, year, month, day] = match;
  // Date.parse moves 30 February into March; a month that does not exist it refuses.
  if (new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() !== Number(day)) return undefined;
  const ms = Date.parse(text);
  return Number.isFinite(ms) ? ms : undefined;
}
