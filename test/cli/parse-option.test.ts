import { expect, test } from "vitest";
import { parseInterval } from "#pigeonhole/cli/values/parse-option.js";
import { readPastMoment } from "#pigeonhole/operator/filter-reader.js";

test.each([
  ["an interval", parseInterval, "0s", "from 1s to 1h"],
  ["an interval", parseInterval, "2h", "from 1s to 1h"],
  ["an interval", parseInterval, "60", "It has no unit: write 60s."],
  ["an interval", parseInterval, "often", "It must be a duration such as"],
  ["a moment", readPastMoment, "5", "It has no unit: write 5m or 5h or 5d."],
  ["a moment", readPastMoment, "yesterday", "It must be an age such as 1h or 7d"],
])("%s is refused with what to write: %#", (_, parse, text, words) => expect(() => parse(text)).toThrow(words));
