/**
 * A byte, as in URLs or in strings of Python, and a character, as in strings of JSON, which may be in JSON again, three
 * times at most: texts may have any number of backslashes.
 */
const BYTE = /(?:%|\\{1,8}x)[\da-f]{2}/;
const CHARACTER = /\\{1,8}u(?:[\da-f]{4}|\{[\da-f]{1,6}\})/;
/** Names of entities of HTML, besides those of letters with a mark, such as `&uuml;`. */
const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  szlig: "ß",
  aelig: "æ",
  oelig: "œ",
  oslash: "ø",
};
const MARKS: Readonly<Record<string, string>> = {
  grave: "\u0300",
  acute: "\u0301",
  circ: "\u0302",
  tilde: "\u0303",
  uml: "\u0308",
  ring: "\u030a",
  caron: "\u030c",
  cedil: "\u0327",
};
const oneOf = (names: object): string => Object.keys(names).join("|");
const NAME = `(${oneOf(NAMED)})|([a-z])(${oneOf(MARKS)})`;
/** Its `&` may be escaped in another way. A number may lack its semicolon. */
const ENTITY = new RegExp(
  String.raw`(?:&|%26|\\{1,8}(?:u00|x)26)(?:amp;){0,3}(?:#(?:(\d{1,7})|x([\da-f]{1,6}));?|(?:${NAME});)`,
);
/** In quoted-printable: a byte that is none of ASCII, or its sign, and the end of a line, also where it is in JSON. */
const MAIL_BYTE = /=(?:[89a-f][\da-f]|3d)/;
const SOFT_END = /=(?:\r?\n|(?:\\{1,8}r)?\\{1,8}n)/;

const MAIL = either(MAIL_BYTE, SOFT_END);
const PLAIN = either(ENTITY, BYTE, CHARACTER);
const ESCAPE = either(PLAIN, MAIL);
const BYTES = new RegExp(`(?:${BYTE.source})+`, "gi");
const MAIL_BYTES = new RegExp(`(?:${MAIL_BYTE.source})+`, "gi");
const CHARACTERS = new RegExp(CHARACTER.source, "gi");
const ENTITIES = new RegExp(ENTITY.source, "gi");
const SOFT_ENDS = new RegExp(SOFT_END.source, "gi");
/** Words with escapes between and within them, and what addresses have: neither the marks of URLs nor those of JSON. */
const RUN = new RegExp(String.raw`(?:${ESCAPE.source}|[\p{L}\p{M}\p{N}._-])+`, "giu");
/** An escape may itself be escaped, as where a URL is within another. */
const MAX_ROUNDS = 3;

function either(...escapes: RegExp[]): RegExp {
  return new RegExp(escapes.map(({ source }) => source).join("|"), "i");
}

/**
 * Replaces each run of words that are percent-encoded, escaped with a backslash, or in entities of HTML or
 * quoted-printable, by what it says.
 */
export function replaceEscaped(text: string, replace: (run: string, says: string) => string): string {
  if (!ESCAPE.test(text)) return text;
  return text.replaceAll(RUN, (run) => (ESCAPE.test(run) ? replace(run, unescapeRun(run)) : run));
}

/** The text without escapes. */
export function unescapeWords(text: string): string {
  return replaceEscaped(text, (_run, says) => says);
}

/** In both ways, where it may be quoted-printable: `=Fa` is a byte there, but none in `name=Fabr%C3%ADcio`. */
function unescapeRun(run: string): string {
  const plain = inRounds(run, PLAIN, unescapePlain);
  const mail = inRounds(plain, MAIL, unescapeMail);
  return plain === run || plain === mail ? mail : `${plain} ${mail}`;
}

function inRounds(run: string, escape: RegExp, unescape: (text: string) => string): string {
  let says = run;
  for (let round = 0; round < MAX_ROUNDS && escape.test(says); round += 1) says = unescape(says);
  return says.normalize();
}

function unescapePlain(run: string): string {
  return unescapeBytes(run.replaceAll(ENTITIES, textOfEntity), BYTES).replaceAll(CHARACTERS, textOfCharacter);
}

function unescapeMail(run: string): string {
  return unescapeBytes(run.replaceAll(SOFT_ENDS, ""), MAIL_BYTES);
}

function unescapeBytes(run: string, escapes: RegExp): string {
  return run.replaceAll(escapes, (bytes, at: number) => textOfBytes(bytes, at + bytes.length === run.length));
}

/** UTF-8, of which the last character may be cut at the end of a run, or else Latin-1. */
function textOfBytes(escapes: string, isAtEnd: boolean): string {
  const bytes = Buffer.from(escapes.replaceAll(/[%=]|\\+x/gi, ""), "hex");
  const text = bytes.toString();
  const whole = isAtEnd && text.length > 1 ? text.replace(/\uFFFD$/, "") : text;
  return whole.includes("\uFFFD") ? bytes.toString("latin1") : whole;
}

function textOfCharacter(escape: string): string {
  return characterOf(Number.parseInt(escape.replace(/^\\+u\{?/i, ""), 16)) ?? escape;
}

/** With the groups of an {@link ENTITY}: its number, its name, or its letter and mark. */
function textOfEntity(entity: string, ...[decimal, hex, name, letter, mark]: (string | undefined)[]): string {
  if (name !== undefined) return NAMED[name.toLowerCase()] ?? entity;
  if (letter !== undefined && mark !== undefined) return letter + (MARKS[mark.toLowerCase()] ?? "");
  return characterOf(decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal)) ?? entity;
}

/** Undefined where Unicode has no such character. */
function characterOf(code: number): string | undefined {
  return code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}
