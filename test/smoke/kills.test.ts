import { test } from "vitest";
import { proveAnswers } from "../cluster/kill-proof.js";
import { proveKills } from "../process/kill-proof.js";
import { findPostgresPrograms } from "../support/tools.js";

const LIMIT_MS = 90_000;

test(
  "a receiver that is killed three times under load loses nothing and repeats no effect",
  { timeout: LIMIT_MS },
  () => proveKills({ seed: 7, kills: 3 }),
);

test.skipIf(findPostgresPrograms() === undefined && process.env["CI"] === undefined)(
  "three processes on a database, two of which are killed, lose nothing that was answered and repeat nothing",
  { timeout: LIMIT_MS },
  () => {
    const troubles = { kills: 2, restarts: 0, sleeps: [], cuts: [], pauseMs: 600, isShuffled: false };
    return proveAnswers({ seed: 7, events: 80, rate: 40, ...troubles });
  },
);
