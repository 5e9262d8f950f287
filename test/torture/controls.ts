import type { Mistake, PlayName } from "./scenarios/power-loss.js";

/** The play in which a mistake shows, and as what. */
export const SHOWN_IN: Record<Mistake, { play: PlayName; shows: RegExp }> = {
  normal: { play: "first_start", shows: /answered and lost/ },
  mark_outside: { play: "checkpoints", shows: /done false, 1 effects/ },
  random_keys: { play: "checkpoints", shows: /"effects":1,"(ledger":[2-9]|ledger":1,"courier":[2-9])/ },
};
