import { useEffect, useState } from "preact/hooks";
import { outcomeOf } from "../../capture/model/answer.js";
import type { Capture } from "../../capture/model/capture.js";
import { captureHandle } from "../../capture/model/capture-handle.js";
import { readCapture } from "../api/calls.js";
import { bodyAsText } from "../message/body-bytes.js";
import { runAction } from "../state/notice.js";
import { setParams } from "../state/address.js";
import { openCapture } from "../state/selection.js";
import { CloseButton } from "../ui/close-button.js";
import { formatTime } from "../ui/format.js";
import { groupHeaders } from "./compare-attempts.js";
import { listDifferences, readValue } from "./difference.js";
import { DifferenceTable } from "./difference-table.js";

/** Two captures side by side: only what differs. The earlier one is first. */
export function CompareCaptures({ a, b }: { a: string; b: string }) {
  const [pair, setPair] = useState<readonly [Capture, Capture] | null>(null);
  useEffect(() => {
    let isGone = false;
    void runAction(async () => {
      const [first, second] = await Promise.all([readCapture(a), readCapture(b)]);
      if (!isGone) setPair([first.capture, second.capture]);
    });
    return () => {
      isGone = true;
    };
  }, [a, b]);
  return (
    <section class="detail" aria-label="Comparison" aria-busy={pair === null}>
      <header class="detail-head compare-head">
        <div class="detail-title">
          <h2>Compare two deliveries</h2>
          <span class="spring" />
          <CloseButton onClick={() => setParams({ compare: "" })} />
        </div>
        {pair !== null && (
          <div class="compare-pair">
            {pair.map((capture, index) => (
              <button type="button" class="compare-side" key={capture.id} onClick={() => openCapture(capture.id)}>
                <span class="sign">{index === 0 ? "−" : "+"}</span>
                <b>{capture.event.type ?? "unreadable"}</b>
                <span class="hint">{formatTime(capture.receivedAt)}</span>
                <code class="hint">{captureHandle(capture.id)}</code>
              </button>
            ))}
          </div>
        )}
      </header>
      {/* Has the focus so that the keyboard scrolls it: tables have nothing else to focus. */}
      <div class="detail-body" tabIndex={0} role="group" aria-label="Differences">
        {pair !== null && <Differences before={pair[0]} after={pair[1]} />}
      </div>
    </section>
  );
}

function Differences({ before, after }: { before: Capture; after: Capture }) {
  const heads = ["Earlier", "Later"] as const;
  return (
    <div class="compare">
      <DifferenceTable
        title="Body"
        heads={heads}
        differences={listDifferences(
          readValue(bodyAsText(before.request.body)),
          readValue(bodyAsText(after.request.body)),
        )}
      />
      <DifferenceTable title="Answer" heads={heads} differences={listDifferences(answerOf(before), answerOf(after))} />
      <DifferenceTable
        title="Headers"
        heads={heads}
        differences={listDifferences(groupHeaders(before.request.headers), groupHeaders(after.request.headers))}
      />
    </div>
  );
}

function answerOf(capture: Capture): unknown {
  const last = capture.attempts.at(-1);
  const body = last?.body ?? null;
  return {
    signature: capture.verify.code,
    status: last?.status ?? null,
    outcome: outcomeOf(last?.headers ?? []) ?? null,
    error: last?.error ?? null,
    body: body === null ? null : readValue(bodyAsText(body)),
  };
}
