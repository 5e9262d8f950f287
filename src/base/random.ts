/** A source of numbers in [0, 1), such as `Math.random`. Simulations use a seeded one. */
export type Random = () => number;
