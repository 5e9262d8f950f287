import { escapeControls } from "../../base/text.js";
import type { CaptureDetail } from "../../dev/api/page-api.js";
import { WorkButtons } from "../message/work-buttons.js";
import { replay } from "../state/actions.js";
import { showTab } from "../state/detail-tabs.js";
import { type Diagnosis, diagnose } from "../state/diagnosis.js";
import { workOf } from "../state/work.js";
import { Icon } from "../ui/icon.js";

const ICONS = { bad: "cross", warn: "warning", good: "check" } as const;

/** One line under the title: the first thing that is wrong with the delivery, and the buttons for it. */
export function DiagnosisLine({ value }: { value: CaptureDetail }) {
  const found = diagnose(value, workOf(value.summary));
  if (found === undefined) return null;
  return (
    <div class={`remark diagnosis ${found.tone}`} role="status">
      <Icon name={ICONS[found.tone]} />
      <p>{escapeControls(found.text)}</p>
      <Remedy remedy={found.remedy} id={value.capture.id} />
    </div>
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
