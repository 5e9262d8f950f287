import { useMemo } from "preact/hooks";
import type { DashboardEventDetail } from "../../../web/api/event.js";
import { shortText } from "../../ui/short-text.js";
import { deliveries } from "./delivery-state.js";
import { mergeTimelines } from "./merge-timelines.js";
import { Timeline } from "./timeline.js";

/** An event's life from the first attempt of the service: its attempts come later, since the service is asked. */
export function WholeTimeline({ event: { id, timeline } }: { event: DashboardEventDetail }) {
  const read = deliveries.value?.id === id ? deliveries.value.read : null;
  const entries = useMemo(() => mergeTimelines(read?.attempts ?? [], timeline), [read, timeline]);
  const note = read === null ? "Reading the service's delivery log…" : read.note;
  return (
    <>
      <p class="hint timeline-note" role="status">
        {note !== null && shortText(note)}
      </p>
      <Timeline entries={entries} />
    </>
  );
}
