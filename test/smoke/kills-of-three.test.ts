import { test } from "vitest";
import { proveAnswers } from "../cluster/kill-proof.js";
import { findPostgresPrograms, isSkippedWithout } from "../support/tools.js";

test.skipIf(isSkippedWithout(findPostgresPrograms()))(
  "three processes on a database, two of which are killed, lose nothing that was answered and repeat nothing",
  () => {
    const troubles = { kills: 2, restarts: 0, sleeps: [], cuts: [], pauseMs: 600, isShuffled: false };
    return proveAnswers({ seed: 7, events: 80, rate: 40, ...troubles });
  },
);
