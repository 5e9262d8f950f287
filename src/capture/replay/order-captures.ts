import { type Random, seededRandom } from "../../base/random.js";

export const REPLAY_ORDERS = ["original", "reverse", "shuffle"] as const;

/** In the order of arrival, reversed, or shuffled. */
export type ReplayOrder = (typeof REPLAY_ORDERS)[number];

/** Largest seed of a shuffle. */
export const MAX_SEED = 2 ** 32 - 1;

/** The items in another order, the same one for the same seed. */
export function orderItems<Item>(items: readonly Item[], order: ReplayOrder, seed: number): Item[] {
  switch (order) {
    case "original":
      return [...items];
    case "reverse":
      return items.toReversed();
    case "shuffle":
      return shuffle(items, seededRandom(`replay ${seed}`));
  }
}

/** Fisher and Yates. */
function shuffle<Item>(items: readonly Item[], random: Random): Item[] {
  const rest = [...items];
  const mixed: Item[] = [];
  while (rest.length > 0) mixed.push(...rest.splice(Math.floor(random() * rest.length), 1));
  return mixed;
}
