import { test } from "vitest";
import { proveKills } from "../process/kill-proof.js";

test("a receiver that is killed three times under load loses nothing and repeats no effect", () =>
  proveKills({ seed: 7, kills: 3 }));
