import { isIPv6 } from "node:net";

/** So much of a text is shown. */
const MAX_SHOWN = 10_000;

const SECRET_NAME =
  "(?:(?:api|private|access)[_-]?key|authori[sz]ation|cookie|credential|passphrase|passw(?:or)?d|secret|signature|token)";
const VALUE = String.raw`[^\s"'\\&,;(){}[\]]`;
const NAME = String.raw`[^\s@<>"(),;:[\]]`;
const HOST = String.raw`[\p{L}\p{N}.-]*[\p{L}\p{N}]|\[[^\s@[\]]{1,64}\]`;

/** What is hidden, and the word for it. A repeat is bounded, or begins once in what it repeats: all is linear. */
const KINDS: readonly (readonly [kind: string, pattern: string])[] = [
  ["key", "-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,30}-----)?"],
  // Behind its name, as in JSON, which may be in JSON again, in a query, and in a sentence or a header.
  ["token", String.raw`(?<=${SECRET_NAME}\w{0,20}\\{0,8}["']\s?:\s?\\{0,8}["'])[^"'\\]+`],
  ["token", String.raw`(?<=${SECRET_NAME}\w{0,20}(?:=|["']\s?:\s?))${VALUE}{3,}`],
  ["token", String.raw`(?<=${SECRET_NAME}\w{0,20}:\s?)(?=\D{0,60}\d)${VALUE}{6,}`],
  ["token", String.raw`(?<=\b(?:Bearer|Basic)\s{1,5})[\w+/.~=-]{6,}`],
  ["token", String.raw`\b(?:whsec|[spr]k|xox[a-z]|gh[a-z]|github_pat|glpat|AKIA|AIza)[_-]?[A-Za-z\d][\w+/=-]{9,}`],
  ["token", String.raw`\b[a-z]{1,12}_(?:live|test)_\w{6,}|\beyJ[\w-]{4,}\.[\w.-]+`],
  ["password", String.raw`(?<=:\/\/[^\s:@/]{0,64}:)[^\s@/]+(?=@)`],
  ["address", String.raw`(?:(?<!${NAME})${NAME}+|"(?:[^"\\\r\n]|\\.){1,64}")(?:@|%40)(?:${HOST})`],
  ["ip", String.raw`(?<![\w.])(?!(?:0|10|127|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.)\d{1,3}(?:\.\d{1,3}){3}(?![\w.])`],
  ["ip6", String.raw`(?<![\w:])[\da-f]{0,4}(?::[\da-f]{0,4}){3,8}(?![\w:])`],
  [
    "phone",
    String.raw`(?<![\p{L}\p{N}.+-]|\d:)(?!\d{4}-\d\d-\d\d)(?:\+\d|\(?\d{2,5}\)?[\s./-])(?:[\s()./-]{0,3}\d){7,14}(?!\d)`,
  ],
  ["number", String.raw`(?<![\p{L}\p{N}_.])\d{10,}(?![\p{L}\p{N}_])`],
  ["word", String.raw`(?<![\w+/=-])[\w+/=-]{20,}`],
];
const SECRET = new RegExp(KINDS.map(([, pattern]) => `(${pattern})`).join("|"), "giu");

/** A UUID, or an id with its prefix: these are looked up. */
const ID = /^(?:[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|[a-z]{1,12}_[A-Za-z\d]+)$/;
/** Where letters meet digits, and small letters capital ones. */
const CHANGE = /[a-z](?=[\dA-Z])|[A-Z](?=\d)|\d(?=[A-Za-z])/g;

/**
 * The text without what looks like an address, a phone number, a token or a key; what is beyond 10,000 characters is
 * left out. It knows formats, not meanings.
 */
export function hideSecrets(text: string): string {
  const end = text.length <= MAX_SHOWN ? text.length : Math.max(text.lastIndexOf(" ", MAX_SHOWN), 0) || MAX_SHOWN;
  const hidden = text.slice(0, end).replaceAll(SECRET, (found, ...groups: unknown[]) => {
    const kind = KINDS[groups.findIndex((group) => group !== undefined)]?.[0] ?? "";
    if (kind === "ip6") return isIPv6(found) ? "[ip]" : found;
    if (kind === "word") return isRandom(found) ? "[token]" : found;
    return `[${kind}]`;
  });
  return end < text.length ? `${hidden} …` : hidden;
}

function isRandom(word: string): boolean {
  const changes = word.match(CHANGE)?.length ?? 0;
  return /\d/.test(word) && changes >= 3 && changes * 6 >= word.length && !ID.test(word);
}
