import { parseTimestamp } from "../../protocol/timestamp.js";
import { STRING_FORMATS, type StringFormat } from "./schema-node.js";

/* Each rule is narrower than the zod check with that name, so that no sample fails the schema made from it. */

const EMAIL = /^[A-Za-z0-9_+-]+(?:\.[A-Za-z0-9_+-]+)*@(?:[A-Za-z0-9][A-Za-z0-9-]*\.)+[A-Za-z]{2,}$/;
const DATETIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** Requires a digit, or else `dkim_missing` would be an identifier too. */
const ID = /^([a-z]{2,12}_)(?=[A-Za-z0-9-]*\d)[A-Za-z0-9-]{6,}$/;

const MAX_CHARACTERS = 2_000;

/** Whether a text surely passes zod's check for that format. */
export function hasFormat(text: string, format: StringFormat): boolean {
  if (text.length > MAX_CHARACTERS) return false;
  switch (format) {
    case "email":
      return EMAIL.test(text);
    case "datetime":
      return DATETIME.test(text) && parseTimestamp(text) !== undefined;
    case "uuid":
      return UUID.test(text);
    case "url":
      return /^https?:\/\/[^\s]+$/.test(text) && URL.canParse(text);
  }
}

/** The formats of this list that the text also has. */
export function keepFormats(text: string, formats: readonly StringFormat[] = STRING_FORMATS): StringFormat[] {
  return formats.filter((format) => hasFormat(text, format));
}

/** The prefix of an identifier such as `msg_01hx`; null for any other text. */
export function idPrefix(text: string): string | null {
  return text.length > MAX_CHARACTERS ? null : (ID.exec(text)?.[1] ?? null);
}
