import { escapeControls } from "../../base/text.js";
import { copyText } from "../state/copy-text.js";

/** A text that a click copies. `what`: it, such as `the event's id`. */
export function CopyFact({ text, what }: { text: string; what: string }) {
  return (
    <button type="button" class="fact copy-fact" title={`Copy ${what}`} onClick={() => void copyText(text, text)}>
      <code>{escapeControls(text)}</code>
    </button>
  );
}
