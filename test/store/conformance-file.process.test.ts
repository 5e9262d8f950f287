import { describeStore } from "./conformance.js";
import { FILE_WITH_THREAD } from "./sqlite-kind.js";

describeStore("SQLite in a file, with a writer thread", FILE_WITH_THREAD);
