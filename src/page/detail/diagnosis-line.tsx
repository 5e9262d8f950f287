import type { CaptureDetail } from "../../dev/api/page-api.js";
import { shortText } from "../text/format.js";
import { Remark } from "../ui/remark.js";
import { WorkButtons } from "../message/work-buttons.js";
import { replay } from "../state/actions.js";
import { showTab } from "../state/detail.js";
import { type Diagnosis, diagnose } from "../state/diagnosis.js";
import { readWork, workOf } from "../state/work.js";
import { reportProblem } from "../state/notice.js";
import { session } from "../state/session.js";
import { useEffect } from "preact/hooks";
import { sentEventIds } from "../../capture/model/sent-event-id.js";
import { Button } from "../ui/button.js";

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
    <Remark tone={found.tone} role="status" text={shortText(found.text)}>
      <Remedy remedy={found.remedy} id={capture.id} />
    </Remark>
  );
}

function Remedy({ remedy, id }: { remedy: Diagnosis["remedy"]; id: string }) {
  if (remedy === "none") return null;
  if (typeof remedy === "object") return <WorkButtons event={remedy} />;
  return (
    <>
      {remedy === "secret" && <Button label="Try another secret" class="small" run={askForSecret} />}
      <Button icon="replay" label="Replay, re-signed" class="small" run={() => replay({ ids: [id], mode: "resign" })} />
    </>
  );
}

function askForSecret(): void {
  showTab("signature");
  requestAnimationFrame(() => document.querySelector<HTMLElement>(".try-secret input")?.focus());
}
