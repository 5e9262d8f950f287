import { describeStore } from "./conformance.js";
import { FILE_WITH_THREAD } from "./sqlite-kind.js";

describeStore(FILE_WITH_THREAD);
