import { describe } from "vitest";
import { describeManyEvents } from "./describe-views.js";
import { fullFile } from "./stores.js";

describe("a dashboard on a file with 100,000 events", () => {
  describeManyEvents({ open: fullFile, total: 100_000, each: 7 });
});
