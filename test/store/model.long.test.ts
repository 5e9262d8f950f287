import { testModels } from "./model/test-models.js";
import { FILE_WITH_THREAD, FILE_WITHOUT_THREAD, MEMORY } from "./sqlite-kind.js";

testModels({ kind: MEMORY, numRuns: 600, maxCommands: 100 });
testModels({ kind: FILE_WITHOUT_THREAD, numRuns: 50, maxCommands: 60 });
testModels({ kind: FILE_WITH_THREAD, numRuns: 60, maxCommands: 60 });
