import { PigeonholeError } from "../base/error.js";

/** How something is made that is to exist once. */
export interface OnceInput<Value> {
  /** Looks for what an earlier run made; undefined or null if there is nothing. */
  readonly find: () => FoundOrNot<Value> | Promise<FoundOrNot<Value>>;
  /** Makes it. */
  readonly create: () => Value | Promise<Value>;
}

type FoundOrNot<Value> = Value | null | undefined;

/** What decides whether an earlier run may have made it. */
interface OnceRun {
  attempt: number;
  step: <Value>(name: string, fn: () => Value | Promise<Value>) => Promise<Value>;
}

/**
 * Makes something in a step, after a look for what an earlier run made. Two steps: the first is kept before anything is
 * made, so that each later run knows of it. The attempt alone does not say so: a run that was stopped does not count,
 * and a retry through the inbox starts the count again.
 */
export async function runOnce<Value>(
  { attempt, step }: OnceRun,
  name: string,
  input: OnceInput<Value>,
): Promise<Value> {
  // Without types, all of it may be missing.
  const { find, create }: Partial<OnceInput<Value>> = input ?? {};
  if (typeof find !== "function" || typeof create !== "function") {
    throw new PigeonholeError("invalid_argument", `ctx.once("${name}") needs the functions find and create.`);
  }
  return step(name, async () => {
    let isFirst = false;
    await step(`${name} (begun)`, () => {
      isFirst = attempt === 1;
    });
    return (isFirst ? undefined : await find()) ?? create();
  });
}
