import { testModels } from "../store/model/test-models.js";
import { MEMORY } from "../store/sqlite-kind.js";

// On every store, and with other commands each time, in `npm run test:all`.
testModels({ kind: MEMORY, numRuns: 10, maxCommands: 100, seed: 1 });
