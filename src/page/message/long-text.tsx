import { Button } from "../ui/button.js";
import { formatCount } from "../text/format.js";
import { useState } from "preact/hooks";

/** To lay out a text of megabytes takes seconds. */
const SHOWN = 64 * 1024;

interface LongTextOptions {
  text: string;
  class?: string;
  /** Characters that are shown at first. @default 64 Ki */
  shown?: number;
}

/** A text as it is, of a long one the beginning, and the rest after a click. */
export function LongText({ text, class: className = "text", shown = SHOWN }: LongTextOptions) {
  const [isWhole, setWhole] = useState(false);
  const more = isWhole ? 0 : text.length - shown;
  return (
    <>
      <pre class={className}>{more > 0 ? text.slice(0, shown) : text}</pre>
      {more > 0 && <Button label={`Show ${formatCount(more)} more characters`} run={() => setWhole(true)} />}
    </>
  );
}
