import { runCanaries } from "./canary-scenario.js";

// With the logger and the alarm hook of a user who configured nothing.
const { signatures } = await runCanaries();
console.log(`signatures ${signatures.length}`);
