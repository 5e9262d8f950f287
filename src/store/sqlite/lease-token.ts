import { randomInt } from "node:crypto";

/** Returns a token that no lease had before. */
export type NextToken = () => number;

/** Tokens below are epochs: the lease of a direct pair, which has no row to keep a token in. */
const FIRST_ROW_TOKEN = 2 ** 32;

/** Whether the lease was given with the event and has no row, or had none when it was given. */
export function isDirect({ token }: { token: number }): boolean {
  return token < FIRST_ROW_TOKEN;
}

/** Counts up from a random number, so that the tokens of two processes differ. */
export function createTokenSource(): NextToken {
  let token = FIRST_ROW_TOKEN + randomInt(2 ** 47);
  return () => ++token;
}
