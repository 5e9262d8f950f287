/** Resolves at the end of this turn of the event loop, after what is ready to run. */
export const endOfTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
