import type { ComponentChildren } from "preact";
import { MAX_CHOSEN } from "../../web/api/event.js";
import { formatCount } from "../text/format.js";
import { IconButton } from "./button.js";

interface SelectionBarOptions {
  label: string;
  /** Number of the chosen rows; null for all that a filter matches. */
  count: number | null;
  /** Where only so many rows can be changed at once: what to do about more of them. */
  ifTooMany?: string;
  /** Chooses none. */
  clear?: () => void;
  /** The actions. */
  children: ComponentChildren;
}

/** What can be done with the chosen rows of a list, below it. */
export function SelectionBar({ label, count, ifTooMany, clear, children }: SelectionBarOptions) {
  const isTooMuch = ifTooMany !== undefined && (count ?? 0) > MAX_CHOSEN;
  return (
    <div class="selection-bar" role="toolbar" aria-label={label}>
      <span class="selection-count">{count === null ? label : `${formatCount(count)} chosen`}</span>
      {isTooMuch ? (
        <span class="hint" role="status">
          At most {MAX_CHOSEN} can be changed at once. {ifTooMany}
        </span>
      ) : (
        children
      )}
      {clear !== undefined && <IconButton icon="cross" label="Choose none" title="Choose none (Esc)" onClick={clear} />}
    </div>
  );
}
