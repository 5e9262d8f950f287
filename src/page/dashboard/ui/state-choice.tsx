import type { ComponentType } from "preact";
import { formatCount } from "../../ui/format.js";
import { setParams } from "../state/dashboard-address.js";

interface StateChoiceOptions {
  states: readonly string[];
  /** The chosen state, "" for all. */
  current: string;
  /** Shows a state's name. */
  Badge: ComponentType<{ state: string }>;
  /** By state, as far as it is known. */
  counts: Partial<Record<string, number>>;
}

/** All, or one state of a list, with the number in each. A click shows the list. */
export function StateChoice({ states, current, Badge, counts }: StateChoiceOptions) {
  return (
    <div class="state-choice" role="group" aria-label="State">
      {["", ...states].map((state) => {
        const count = counts[state];
        return (
          <button
            type="button"
            class="band"
            key={state}
            aria-pressed={state === current}
            onClick={() => setParams({ state })}
          >
            {state === "" ? "all" : <Badge state={state} />}
            {count !== undefined && <b>{formatCount(count)}</b>}
          </button>
        );
      })}
    </div>
  );
}
