import { describeStore } from "./conformance.js";
import { FILE_WITHOUT_THREAD } from "./sqlite-kind.js";

// The short form has its two halves: the file with a thread, and memory without one.
describeStore(FILE_WITHOUT_THREAD);
