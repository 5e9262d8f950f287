import { formatExactTime, formatTime } from "../text/format.js";

interface TimeOptions {
  /** ISO text, or milliseconds since 1970. */
  at: string | number;
  /** Said before it, such as `next at `. */
  before?: string;
  class?: string;
}

/** A time, with the exact one for the pointer. */
export function Time({ at, before = "", class: look }: TimeOptions) {
  return (
    <span class={look} title={formatExactTime(at)}>
      {before}
      {formatTime(at)}
    </span>
  );
}
