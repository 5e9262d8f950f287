import { useMemo } from "preact/hooks";
import type { CapturedBody } from "../../capture/model/capture.js";
import { JsonTree } from "../json/json-tree.js";
import { parseJson } from "../json/parse-json.js";
import { Icon } from "../ui/icon.js";
import { LongText } from "./long-text.js";
import { bodyAsText } from "./body-bytes.js";

/** Characters that are shown before and after the place where a text stops being JSON. */
const AROUND = 32 * 1024;

interface BodyViewOptions {
  body: CapturedBody;
  label: string;
  canSearch?: boolean;
  /** Shows where the text stops being JSON, for bodies that should be JSON. */
  mustBeJson?: boolean;
}

/** A body as a tree if it is JSON, and as text otherwise. */
export function BodyView({ body, label, canSearch = false, mustBeJson = false }: BodyViewOptions) {
  const text = useMemo(() => bodyAsText(body), [body]);
  const parsed = useMemo(() => parseJson(text), [text]);
  if (text === "") return <p class="nothing">No body.</p>;
  // Keyed by the text, so that another body starts with its own folds.
  if (parsed.ok) return <JsonTree key={text} node={parsed.node} label={label} canSearch={canSearch} />;
  if (!mustBeJson) return <LongText key={text} text={text} />;
  const { at, line, column, message } = parsed.problem;
  return (
    <>
      <p class="remark bad">
        <Icon name="warning" /> Not JSON: line {line}, column {column}. {message}.
      </p>
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
