/** A source of numbers in [0, 1), as `Math.random`; seeded in simulations. */
export type Random = () => number;
