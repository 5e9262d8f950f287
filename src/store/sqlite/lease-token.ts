import { randomInt } from "node:crypto";

/** Takes `count` tokens that no lease had before; they count up from the one that it returns. */
export type TakeTokens = (count: number) => number;

/** Begins at a random number, so that the tokens of two processes, and of two threads, differ. */
export function createTokenSource(): TakeTokens {
  let next = randomInt(2 ** 47);
  return (count) => (next += count) - count;
}
