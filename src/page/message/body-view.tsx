import type { CapturedBody } from "../../capture/model/capture.js";
import { useMemo } from "preact/hooks";
import { JsonTree } from "../json/json-tree.js";
import { parseJson } from "../json/parse-json.js";
import { Remark } from "../ui/remark.js";
import { LongText } from "./long-text.js";
import { MailView } from "./mail-view.js";
import { bodyAsText } from "./body-bytes.js";

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
