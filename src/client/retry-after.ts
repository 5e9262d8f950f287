// The sandbox reads receivers' answers by the same rule.
export { readRetryAfter } from "../base/retry-after.js";
