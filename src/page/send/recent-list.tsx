import { escapeControls } from "../../base/text.js";
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { CaptureSummary } from "../../capture/model/capture.js";
import { listCaptures } from "../api/calls.js";
import { formatTime } from "../text/format.js";
import { runAction } from "../state/notice.js";

const SHOWN = 8;

/** What was sent before from the page or with `pigeonhole trigger`; the captures are its memory. */
const recent = signal<readonly CaptureSummary[]>([]);

export function loadRecent(): Promise<boolean> {
  return runAction(async () => {
    const { items } = await listCaptures("source:trigger", new AbortController().signal);
    // Of several deliveries of one event, the last.
    const newest = new Map(items.toReversed().map((capture) => [capture.eventId ?? capture.id, capture]));
    recent.value = [...newest.values()].toReversed().slice(0, SHOWN);
  });
}

/** Payloads that were sent before. A click puts one into the editor, under a new id. */
export function RecentList({ onPick }: { onPick: (capture: CaptureSummary) => void }) {
  useEffect(() => void loadRecent(), []);
  if (recent.value.length === 0) return null;
  return (
    <section class="sent" aria-label="Sent before">
      <h2>Sent before</h2>
      {recent.value.map((capture) => (
        <button
          type="button"
          class="sent-row"
          key={capture.id}
          title="Put this payload into the editor, with a new event id"
          onClick={() => onPick(capture)}
        >
          <span class="sent-type">{escapeControls(capture.type ?? "unreadable")}</span>
          <span class="hint sent-subject">{escapeControls(capture.subject)}</span>
          <span class="hint">{formatTime(capture.receivedAt)}</span>
        </button>
      ))}
    </section>
  );
}
