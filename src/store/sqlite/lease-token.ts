import { randomInt } from "node:crypto";

/** Gives a token that no lease had before. */
export type NextToken = () => number;

/** Counts up from a random place, so that tokens of two processes do not meet. */
export function createTokenSource(): NextToken {
  let token = randomInt(2 ** 47);
  return () => ++token;
}
