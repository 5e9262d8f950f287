/** A handler that throws until its cause is fixed, as one behind a server that is down. */
export interface FailingHandler {
  readonly isFixed: boolean;
  /** Throws until it is fixed. */
  run: () => void;
  fix: () => void;
}

/** `makeError` makes what each run throws. */
export function createFailingHandler(makeError: () => Error): FailingHandler {
  let isFixed = false;
  return {
    get isFixed() {
      return isFixed;
    },
    run() {
      if (!isFixed) throw makeError();
    },
    fix: () => void (isFixed = true),
  };
}
