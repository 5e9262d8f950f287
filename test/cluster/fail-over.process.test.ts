import { expect, test } from "vitest";
import { findPostgresPrograms, isSkippedWithout } from "../support/tools.js";
import { failOverUnderLoad } from "./fail-over.js";

test.skipIf(isSkippedWithout(findPostgresPrograms()))(
  "a synchronous standby that is promoted under load has all that was answered",
  async () => {
    const cluster = await failOverUnderLoad({ isSynchronous: true, events: 100, perSecond: 40 });
    expect(await cluster.findLost()).toEqual([]);
    // Without this the failover would have hit nothing.
    expect(cluster.sandbox.deliveries().filter(({ status }) => status !== "delivered").length).toBeGreaterThan(20);
  },
);
