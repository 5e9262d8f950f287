import type { CapturedBody } from "../../capture/model/capture.js";
import { useMemo } from "preact/hooks";
import { JsonTree } from "../json/json-tree.js";
import { parseJson } from "../json/parse-json.js";
import { Remark } from "../ui/remark.js";
import { LongText } from "./long-text.js";
import { MailView } from "./mail-view.js";
import { decodeBody } from "../../capture/model/captured-body.js";

/** Characters that are shown before and after the place where a text stops being JSON. */
const AROUND = 8 * 1024;

/** Longer texts, such as no webhook of the service has, are shown as they are. */
const MAX_PARSED = 1_000_000;

interface BodyViewOptions {
  body: CapturedBody;
  label: string;
  canSearch?: boolean;
  /** For a delivery: what is not JSON is shown where it stops being JSON, and an event about a mail as a mail too. */
  isEvent?: boolean;
}

/** A body as a tree if it is JSON, and as text otherwise. */
export function BodyView({ body, label, canSearch = false, isEvent = false }: BodyViewOptions) {
  const text = useMemo(() => bodyAsText(body), [body]);
  const parsed = useMemo(() => (text.length > MAX_PARSED ? undefined : parseJson(text)), [text]);
  if (text === "") return <p class="nothing">No body.</p>;
  // Keyed by the text, so that another body starts with its own folds.
  if (parsed?.ok === true) {
    return (
      <>
        {isEvent && <MailView key={`mail ${text}`} envelope={parsed.value} />}
        <JsonTree key={text} value={parsed.value} label={label} canSearch={canSearch} />
      </>
    );
  }
  if (parsed === undefined || !isEvent) return <LongText key={text} text={text} />;
  const { at, line, column, message } = parsed.problem;
  return (
    <>
      <Remark tone="bad">
        Not JSON: line {line}, column {column}. {message}.
      </Remark>
      <pre class="text">
        {at > AROUND && "… "}
        {text.slice(Math.max(0, at - AROUND), at)}
        <mark>{text[at] ?? "⏎"}</mark>
        {text.slice(at + 1, at + AROUND)}
        {at + AROUND < text.length && " …"}
      </pre>
    </>
  );
}

/** The body as text. Invalid UTF-8 is shown as replacement characters. */
export function bodyAsText(body: CapturedBody): string {
  return body.encoding === "utf8" ? body.data : new TextDecoder().decode(decodeBody(body));
}

/** Lines of offset, 16 bytes and their ASCII characters. */
export function bytesAsHex(bytes: Uint8Array, limit: number): string {
  const lines: string[] = [];
  for (let at = 0; at < Math.min(bytes.length, limit); at += 16) {
    const part = [...bytes.subarray(at, at + 16)];
    const hex = part.map((byte) => byte.toString(16).padStart(2, "0"));
    const columns = `${hex.slice(0, 8).join(" ").padEnd(23)}  ${hex.slice(8).join(" ").padEnd(23)}`;
    const signs = part.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCodePoint(byte) : "·")).join("");
    lines.push(`${at.toString(16).padStart(8, "0")}  ${columns}  ${signs}`);
  }
  if (bytes.length > limit) lines.push(`… ${bytes.length - limit} more bytes`);
  return lines.join("\n");
}
