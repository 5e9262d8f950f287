import { testModels } from "./model/test-models.js";
import { FILE_WITH_THREAD, FILE_WITHOUT_THREAD, MEMORY } from "./sqlite-kind.js";

testModels({ where: "in memory", kind: MEMORY, numRuns: 600, maxCommands: 100 });
testModels({ where: "in a file without a thread", kind: FILE_WITHOUT_THREAD, numRuns: 50, maxCommands: 60 });
testModels({ where: "in a file", kind: FILE_WITH_THREAD, numRuns: 60, maxCommands: 60 });
