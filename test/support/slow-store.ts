import { makeGate } from "./gate.js";
import { decorateStore } from "./store-in.js";

/** A store that takes no delivery until its gate is opened; `given` says how many it was given. */
export function makeSlowStore(file?: string) {
  const gate = makeGate();
  let given = 0;
  const store = decorateStore(
    (real) => ({
      async accept(event) {
        given += 1;
        await gate.passed;
        return real.accept(event);
      },
    }),
    file,
  );
  return { store, gate, given: () => given };
}
