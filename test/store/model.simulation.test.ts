import { testModels } from "./model/test-models.js";
import { FILE_WITH_THREAD, MEMORY } from "./sqlite-kind.js";

testModels({ where: "in memory", kind: MEMORY, numRuns: 100, maxCommands: 100 });
testModels({ where: "in a file", kind: FILE_WITH_THREAD, numRuns: 20, maxCommands: 60 });
