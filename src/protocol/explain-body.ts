import type { FindingCode, SignatureFinding, Variant } from "./explanation.js";

const RAW_BYTES = "Take the raw bytes of the request in front of any parser, and verify those.";

/** Other bodies that may have been signed, each with what would then have happened to the one given. */
export function bodyVariants(body: Uint8Array | string): Variant<Uint8Array | string>[] {
  const bytes =
    typeof body === "string" ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const text = bytes.toString();
  return [...newlines(text), base64(text), ...respelled(text)].filter(({ value }) => !bytes.equals(Buffer.from(value)));
}

function variant(code: FindingCode, value: string, what: string, fix = RAW_BYTES): Variant<string> {
  return { value, finding: { code, message: `The signature fits the ${what}.`, fix } };
}

function newlines(text: string): Variant<string>[] {
  const code = "body_trailing_newline";
  const end = /(?:\r?\n)+$/.exec(text.slice(-8))?.[0] ?? "";
  if (end !== "") {
    return [variant(code, text.slice(0, -end.length), "body without the line end at its end, which was added")];
  }
  return ["\n", "\r\n"].map((added) => variant(code, text + added, "body with a line end at its end, which was lost"));
}

function base64(text: string): Variant<Buffer> {
  const message = "The signature fits the base64-decoded body: the platform passes it on encoded.";
  const fix = "Decode it to bytes first: Buffer.from(body, 'base64'), as with isBase64Encoded on AWS Lambda.";
  return { value: Buffer.from(text, "base64"), finding: { code: "body_base64", message, fix } };
}

/** The same JSON as JavaScript writes it. One that is nested too deeply cannot be written. */
function respelled(text: string): Variant<string>[] {
  try {
    const value: unknown = JSON.parse(text);
    const fix = `${RAW_BYTES} In Express, mount the receiver in front of express.json().`;
    return [0, 2].flatMap((indent) => {
      const spelled = JSON.stringify(value, null, indent);
      const how = indent === 0 ? "written compactly" : "pretty-printed with 2 spaces";
      const what = `same JSON ${how}: the body was parsed and serialized again`;
      return [spelled, `${spelled}\n`].map((each) => variant("body_reserialised", each, what, fix));
    });
  } catch {
    return [];
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
