import { escapeControls } from "../../base/text.js";
import { copyText } from "../state/copy-or-save.js";
import { Icon } from "./icon.js";

interface CopyOptions {
  text: string;
  /** The text in words, such as `the event's id`. */
  what: string;
}

/** A text among facts that a click copies. */
export function CopyFact({ text, what }: CopyOptions) {
  return (
    <button type="button" class="fact copy-fact" title={`Copy ${what}`} onClick={() => void copyText(text, text)}>
      <code>{escapeControls(text)}</code>
    </button>
  );
}

/** An address that a click copies. */
export function CopyButton({ text, what }: CopyOptions) {
  const label = `Copy ${what}: ${text}`;
  return (
    <button type="button" class="copy-line" title={label} aria-label={label} onClick={() => void copyText(text, what)}>
      <code>{text}</code>
      <Icon name="copy" />
    </button>
  );
}
