import type { FindingCode, SignatureFinding, Variant } from "./explanation.js";
import { jsonSpellings } from "./json-spellings.js";

const RAW_BYTES = "Take the raw bytes of the request in front of any parser, and verify those.";

/** Other bodies that may have been signed, each with what would then have happened to the one given. */
export function bodyVariants(body: Uint8Array | string): Variant<Uint8Array | string>[] {
  const bytes =
    typeof body === "string" ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const text = bytes.toString();
  return [...newlines(text), ...encodings(bytes, text), ...respelled(text)].filter(
    ({ value }) => !bytes.equals(Buffer.from(value)),
  );
}

function newlines(text: string): Variant<string>[] {
  const end = /(?:\r?\n)+$/.exec(text.slice(-8))?.[0] ?? "";
  const variants: Variant<string>[] = [];
  const add = (code: FindingCode, value: string, what: string): void => {
    variants.push({ value, finding: { code, message: `The signature fits the body ${what}.`, fix: RAW_BYTES } });
  };
  if (end === "") {
    add("body_trailing_newline", `${text}\n`, "with a line end at its end, which was lost");
    add("body_trailing_newline", `${text}\r\n`, "with a CRLF at its end, which was lost");
  } else {
    add("body_trailing_newline", text.slice(0, -end.length), "without the line end at its end, which was added");
  }
  const lf = text.replaceAll("\r\n", "\n");
  add("body_line_ends", lf, "with LF line ends; they were changed to CRLF");
  add("body_line_ends", lf.replaceAll("\n", "\r\n"), "with CRLF line ends; they were changed to LF");
  const mark = "\uFEFF";
  if (text.startsWith(mark)) {
    add("body_byte_order_mark", text.slice(1), "without the byte order mark in front, which was added");
  } else add("body_byte_order_mark", mark + text, "with a byte order mark in front, which was removed");
  return variants;
}

function encodings(bytes: Buffer, text: string): Variant<Buffer>[] {
  const latin1 = "The signature fits the body read as UTF-8: it was decoded as Latin-1 on the way.";
  const lambda = "The signature fits the base64-decoded body: the platform passes it on encoded.";
  const decode = "Decode it to bytes first: Buffer.from(body, 'base64'), as with isBase64Encoded on AWS Lambda.";
  const latin1Finding: SignatureFinding = { code: "body_decoded_as_latin1", message: latin1, fix: RAW_BYTES };
  return [
    { value: Buffer.from(text, "latin1"), finding: latin1Finding },
    { value: Buffer.from(bytes.toString("latin1")), finding: latin1Finding },
    { value: Buffer.from(text, "base64"), finding: { code: "body_base64", message: lambda, fix: decode } },
  ];
}

function respelled(text: string): Variant<string>[] {
  const parsed = parseJson(text);
  if (parsed === undefined) return [];
  if (typeof parsed.value === "string") {
    const message = "The signature fits the text inside the body: the body was quoted as a JSON string once more.";
    return [{ value: parsed.value, finding: { code: "body_quoted_as_json", message, fix: RAW_BYTES } }];
  }
  return jsonSpellings(parsed.value).flatMap(({ name, text: spelled }) => {
    const finding = (end: string): SignatureFinding => ({
      code: "body_reserialised",
      message: `The signature fits the same JSON ${name}${end}: the body was parsed and serialized again.`,
      fix: `${RAW_BYTES} In Express, mount the receiver in front of express.json().`,
    });
    return [
      { value: spelled, finding: finding("") },
      { value: `${spelled}\n`, finding: finding(" and a line end") },
    ];
  });
}

function parseJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** What can be seen on a body that fits nothing. */
export function bodyHints(body: Uint8Array | string): SignatureFinding[] {
  const text =
    typeof body === "string" ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("latin1");
  if (text === "") {
    const message = "The body is empty: another parser probably read it first.";
    return [{ code: "body_empty", message, fix: RAW_BYTES }];
  }
  if (text === "[object Object]") {
    const message = "The body is a parsed object turned into text, not what was sent.";
    return [{ code: "body_stringified_object", message, fix: RAW_BYTES }];
  }
  // U+FFFD, in text or as its UTF-8 bytes: what a decoder writes in place of bytes that it could not read.
  if (text.includes("\uFFFD") || text.includes("\u00EF\u00BF\u00BD")) {
    const message = "The body holds replacement characters (U+FFFD): decoding it has probably destroyed bytes.";
    return [{ code: "body_lost_characters", message, fix: RAW_BYTES }];
  }
  return [];
}
