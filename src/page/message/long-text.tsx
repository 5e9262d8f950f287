import { useState } from "preact/hooks";
import { formatCount } from "../ui/format.js";

/** Characters that are shown at first: to lay out a text of megabytes takes seconds. */
const SHOWN = 64 * 1024;

interface LongTextOptions {
  text: string;
  class?: string;
}

/** A text as it is, of a long one the beginning, and the rest after a click. */
export function LongText({ text, class: className = "text" }: LongTextOptions) {
  const [isWhole, setWhole] = useState(false);
  const more = isWhole ? 0 : text.length - SHOWN;
  return (
    <>
      <pre class={className}>{more > 0 ? text.slice(0, SHOWN) : text}</pre>
      {more > 0 && (
        <button type="button" class="button more-text" onClick={() => setWhole(true)}>
          Show {formatCount(more)} more characters
        </button>
      )}
    </>
  );
}
