import { describe } from "vitest";
import { describeAccept, describeOtherBytes } from "./conformance/accept.js";
import { describeCommit } from "./conformance/commit.js";
import { describeErase } from "./conformance/erase.js";
import { describeFigures } from "./conformance/figures.js";
import { type StoreKind, useStore } from "./conformance/fixture.js";
import { describeHandlerTimes } from "./conformance/handler-times.js";
import { describeHistory } from "./conformance/history.js";
import { describeInspect } from "./conformance/inspect.js";
import { describeLease, describeNewest, describeRecover, describeRunSlots } from "./conformance/lease.js";
import { describeLifecycle } from "./conformance/lifecycle.js";
import { describeOpenOperator, describePolicies, describeRepairRounds } from "./conformance/operator.js";
import {
  describeOutboxRecord,
  describeOutboxSend,
  describeOutboxSettle,
  describeRestartWaits,
} from "./conformance/outbox.js";
import { describeOutboxInspect } from "./conformance/outbox-inspect.js";
import { describeKnownIds, describePrune } from "./conformance/prune.js";
import { describeReplan, describeRequestedRetries, describeRunNow } from "./conformance/retry.js";
import { describeFailedRuns, describeSettle, describeSteps, describeWaits } from "./conformance/settle.js";

/** What holds for every store, whatever keeps its data. A new implementation runs this and `testModels` to be one. */
export function describeStore(kind: StoreKind): void {
  describe(kind.name, () => {
    const fixture = useStore(kind);
    describeAccept(fixture);
    describeOtherBytes(fixture);
    describeLease(fixture);
    describeSettle(fixture);
    describeWaits(fixture);
    describeNewest(fixture);
    describeRunSlots(fixture);
    describeFailedRuns(fixture);
    describeCommit(fixture);
    describeRecover(fixture);
    describeRestartWaits(fixture);
    describeSteps(fixture);
    describeInspect(fixture);
    describeReplan(fixture);
    describeHistory(fixture);
    describeRequestedRetries(fixture);
    describeRunNow(fixture);
    describePolicies(fixture);
    describeHandlerTimes(fixture);
    describeFigures(fixture);
    describePrune(fixture);
    describeKnownIds(fixture);
    describeRepairRounds(fixture);
    describeErase(fixture);
    describeOutboxRecord(fixture);
    describeOutboxSend(fixture);
    describeOutboxSettle(fixture);
    describeOutboxInspect(fixture);
    describeOpenOperator(fixture);
    describeLifecycle(fixture);
  });
}
