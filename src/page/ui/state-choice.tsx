import type { ComponentType } from "preact";
import { formatCount } from "./format.js";
import { setParams } from "../state/address.js";

interface StateChoiceOptions<State extends string> {
  states: readonly State[];
  /** The chosen state, "" for all. */
  current: string;
  /** Shows a state's name. */
  Badge: ComponentType<{ state: State }>;
  /** By state, as far as it is known. */
  counts: Partial<Record<string, number>>;
}

/** All, or one state of a list, with the number in each. A click shows the list. */
export function StateChoice<State extends string>({ states, current, Badge, counts }: StateChoiceOptions<State>) {
  const choices: readonly (State | "")[] = ["", ...states];
  return (
    <div class="state-choice" role="group" aria-label="State">
      {choices.map((state) => {
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
