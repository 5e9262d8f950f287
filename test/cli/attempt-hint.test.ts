import { expect, test } from "vitest";
import { attemptHint } from "#pigeonhole/cli/values/attempt-hint.js";

test.each([
  [301, null, "follows no redirect"],
  [400, null, "log says why"],
  [401, null, "endpoint's secret"],
  [403, null, "endpoint's secret"],
  [404, null, "api webhooks.update <id>"],
  [405, null, "no POST"],
  [410, null, "enabled"],
  [413, null, "bodies"],
  [500, null, "The app failed"],
  [502, null, "The app failed"],
  [503, null, "after a rotation"],
  [null, "no answer within 5 s", "longer than the 5 s"],
  [null, "Timeout", "longer than the 5 s"],
  [null, "no connection: ECONNREFUSED", "Does the app run"],
  [null, null, "Does the app run"],
])("the end of an attempt with %s, %s, is explained with a word about %j", (responseCode, error, words) => {
  expect(attemptHint({ responseCode, error })).toContain(words);
});
