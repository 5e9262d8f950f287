import type { CaptureDetail } from "../../dev/api/page-api.js";
import { FindingLine } from "../message/finding-line.js";
import { WorkButtons } from "../message/work-buttons.js";
import { replay } from "../state/actions.js";
import { showTab } from "../state/detail-tabs.js";
import { type Diagnosis, diagnose } from "../state/diagnosis.js";
import { readWork, workOf } from "../state/work.js";
import { reportProblem } from "../state/notice.js";
import { session } from "../state/session.js";
import { useEffect } from "preact/hooks";
import { sentEventIds } from "../../capture/model/sent-event-id.js";
import { Icon } from "../ui/icon.js";

/** One line under the title: the first thing that is wrong with the delivery, and the buttons for it. */
export function DiagnosisLine({ value }: { value: CaptureDetail }) {
  const { capture, summary } = value;
  const hasInbox = session.value?.inbox === true;
  // A replay may have brought an event into the inbox, and its work is followed from then on.
  useEffect(() => {
    if (hasInbox) for (const id of sentEventIds(capture)) readWork(id).catch(reportProblem);
  }, [capture.id, capture.attempts.length, hasInbox]);
  const found = diagnose(value, workOf(summary));
  if (found === undefined) return null;
  return (
    <FindingLine found={found}>
      <Remedy remedy={found.remedy} id={capture.id} />
    </FindingLine>
  );
}

function Remedy({ remedy, id }: { remedy: Diagnosis["remedy"]; id: string }) {
  if (remedy === "none") return null;
  if (typeof remedy === "object") return <WorkButtons event={remedy} />;
  return (
    <>
      {remedy === "secret" && (
        <button type="button" class="button small" onClick={askForSecret}>
          Try another secret
        </button>
      )}
      <button type="button" class="button small" onClick={() => void replay({ ids: [id], mode: "resign" })}>
        <Icon name="replay" /> Replay, re-signed
      </button>
    </>
  );
}

function askForSecret(): void {
  showTab("signature");
  requestAnimationFrame(() => document.querySelector<HTMLElement>(".try-secret input")?.focus());
}
