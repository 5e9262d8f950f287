import { useMemo } from "preact/hooks";
import type { DashboardEventDetail, ShownPayload } from "../../../dashboard/api/event.js";
import { BodyView } from "../../message/body-view.js";
import { formatBytes } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";
import { unveil, unveiled } from "./event-state.js";

const WORDS: Record<ShownPayload["kind"], string> = {
  hidden: "Payloads are hidden here.",
  redacted: "Without personal data.",
  gone: "Dropped by retention or erased.",
  too_large: "Too large to be shown without personal data.",
  preparing: "Being redacted; shown in a moment.",
};

/** The payload as far as it may be shown, and a button for the whole of it where that is allowed. */
export function PayloadPart({ event: { id, payload } }: { event: DashboardEventDetail }) {
  const shown = unveiled.value?.id === id ? unveiled.value.text : payload.text;
  const isWhole = unveiled.value?.id === id;
  const body = useMemo(() => ({ encoding: "utf8" as const, data: shown ?? "" }), [shown]);
  return (
    <section aria-label="Payload">
      <h2>Payload</h2>
      <p class="hint payload-facts">
        {isWhole ? "In full. Your name was logged." : WORDS[payload.kind]}
        {payload.bytes !== null && ` ${formatBytes(payload.bytes)}.`}
      </p>
      {payload.canUnveil && !isWhole && (
        <button type="button" class="button small" onClick={() => void unveil(id)}>
          <Icon name="eye" /> Show it in full…
        </button>
      )}
      {shown !== null && <BodyView body={body} label="Payload" mustBeJson />}
    </section>
  );
}
