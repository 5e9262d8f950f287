import { copyText } from "../state/copy-text.js";
import { Icon } from "./icon.js";

/** A value that a click copies. */
export function CopyLine({ text, what }: { text: string; what: string }) {
  return (
    <button
      type="button"
      class="copy-line"
      title={`Copy ${what}`}
      aria-label={`Copy ${what}: ${text}`}
      onClick={() => void copyText(text, what)}
    >
      <code>{text}</code>
      <Icon name="copy" />
    </button>
  );
}
