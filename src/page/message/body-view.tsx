import type { CapturedBody } from "../../capture/model/capture.js";
import { JsonTree } from "../json/json-tree.js";
import { parseJson, type ParsedJson } from "../json/parse-json.js";
import { Icon } from "../ui/icon.js";
import { LongText } from "./long-text.js";
import { bodyAsText } from "./body-bytes.js";

/** Characters that are shown before and after the place where a text stops being JSON. */
const AROUND = 8 * 1024;

/** Bodies that were read, for as long as they are kept: a tab that is shown again needs not read its body again. */
const readBodies = new WeakMap<CapturedBody, { text: string; parsed: ParsedJson }>();

function readBody(body: CapturedBody): { text: string; parsed: ParsedJson } {
  const known = readBodies.get(body);
  if (known !== undefined) return known;
  const text = bodyAsText(body);
  const read = { text, parsed: parseJson(text) };
  readBodies.set(body, read);
  return read;
}

interface BodyViewOptions {
  body: CapturedBody;
  label: string;
  canSearch?: boolean;
  /** Shows where the text stops being JSON, for bodies that should be JSON. */
  mustBeJson?: boolean;
}

/** A body as a tree if it is JSON, and as text otherwise. */
export function BodyView({ body, label, canSearch = false, mustBeJson = false }: BodyViewOptions) {
  const { text, parsed } = readBody(body);
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
