import { describeOperator } from "./operator.js";
import { FILE_WITHOUT_THREAD } from "./sqlite-kind.js";

describeOperator(FILE_WITHOUT_THREAD);
