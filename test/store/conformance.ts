import { describe } from "vitest";
import { describeAccept } from "./conformance/accept.js";
import { describeCommit } from "./conformance/commit.js";
import { describeErase } from "./conformance/erase.js";
import { type StoreKind, useStore } from "./conformance/fixture.js";
import { describeFailedRuns } from "./conformance/failed-runs.js";
import { describeFigures } from "./conformance/figures.js";
import { describeHandlerTimes } from "./conformance/handler-times.js";
import { describeInspect } from "./conformance/inspect.js";
import { describeKnownIds } from "./conformance/known-ids.js";
import { describeLease } from "./conformance/lease.js";
import { describeLifecycle } from "./conformance/lifecycle.js";
import { describeOpenOperator } from "./conformance/open-operator.js";
import { describeOtherBytes } from "./conformance/other-bytes.js";
import { describeOutboxInspect } from "./conformance/outbox-inspect.js";
import { describeOutboxRecord } from "./conformance/outbox-record.js";
import { describeOutboxSend } from "./conformance/outbox-send.js";
import { describeOutboxSettle } from "./conformance/outbox-settle.js";
import { describePolicies } from "./conformance/policies.js";
import { describePrune } from "./conformance/prune.js";
import { describeRecover } from "./conformance/recover.js";
import { describeReplan } from "./conformance/replan.js";
import { describeRequestedRetries } from "./conformance/requested-retries.js";
import { describeRestartWaits } from "./conformance/restart-waits.js";
import { describeRunNow } from "./conformance/run-now.js";
import { describeSettle } from "./conformance/settle.js";
import { describeSteps } from "./conformance/steps.js";

/** What holds for every store, whatever keeps its data. A new implementation runs this and nothing else to be one. */
export function describeStore(kind: StoreKind): void {
  describe(kind.name, () => {
    const fixture = useStore(kind);
    describeAccept(fixture);
    describeOtherBytes(fixture);
    describeLease(fixture);
    describeSettle(fixture);
    describeFailedRuns(fixture);
    describeCommit(fixture);
    describeRecover(fixture);
    describeRestartWaits(fixture);
    describeSteps(fixture);
    describeInspect(fixture);
    describeReplan(fixture);
    describeRequestedRetries(fixture);
    describeRunNow(fixture);
    describePolicies(fixture);
    describeHandlerTimes(fixture);
    describeFigures(fixture);
    describePrune(fixture);
    describeKnownIds(fixture);
    describeErase(fixture);
    describeOutboxRecord(fixture);
    describeOutboxSend(fixture);
    describeOutboxSettle(fixture);
    describeOutboxInspect(fixture);
    describeOpenOperator(fixture);
    describeLifecycle(fixture);
  });
}
