import { describeStore } from "./conformance.js";
import { MEMORY } from "./sqlite-kind.js";

describeStore(MEMORY);
