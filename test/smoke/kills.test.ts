import { test } from "vitest";
import { proveKills } from "../process/kill-proof.js";

test("a receiver that is killed three times under load loses nothing and repeats no effect", { timeout: 90_000 }, () =>
  proveKills({ seed: 7, kills: 3 }),
);
