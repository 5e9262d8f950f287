import { testModels } from "./model/test-models.js";
import { FILE_WITH_THREAD, MEMORY } from "./sqlite-kind.js";

testModels({ kind: MEMORY, numRuns: 60, maxCommands: 100 });
testModels({ kind: FILE_WITH_THREAD, numRuns: 12, maxCommands: 60 });
