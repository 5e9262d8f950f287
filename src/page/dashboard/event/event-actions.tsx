import type { DashboardEventDetail } from "../../../web/api/event.js";
import { copyText } from "../../state/copy-text.js";
import { Icon } from "../../ui/icon.js";
import { Menu } from "../../ui/menu.js";
import { mayOperate, viewer } from "../../state/session.js";
import { now } from "../../state/now.js";
import { canRunNow } from "../work/can-run-now.js";
import { actOn, exportEvent } from "./event-state.js";

/** What can be done with the event; those who only read can copy its address. */
export function EventActions({ event }: { event: DashboardEventDetail }) {
  const { id, payload, handlers } = event;
  const hasStopped = handlers.length === 0 || handlers.some(({ state }) => state === "dead" || state === "parked");
  const paused = now.value?.paused ?? [];
  const waits = handlers.some((work) => canRunNow(work, paused));
  return (
    <div class="actions" role="toolbar" aria-label="Event">
      {mayOperate.value && (
        <>
          {hasStopped && !event.test && (
            <button type="button" class="button primary" onClick={() => void actOn(id, "retry")}>
              <Icon name="replay" /> Retry
            </button>
          )}
          {waits && (
            <button type="button" class="button" onClick={() => void actOn(id, "run")}>
              <Icon name="clock" /> Run now
            </button>
          )}
          {event.state !== "done" && (
            <button type="button" class="button danger" onClick={() => void actOn(id, "discard")}>
              <Icon name="trash" /> Discard
            </button>
          )}
        </>
      )}
      <button type="button" class="button" onClick={() => void copyText(location.href, "the address of this page")}>
        <Icon name="copy" /> Copy link
      </button>
      {payload.kind !== "gone" && viewer.value?.payloads !== "hidden" && <ExportMenu id={id} />}
    </div>
  );
}

function ExportMenu({ id }: { id: string }) {
  const make = (kind: "fixture" | "capture", to: "file" | "clipboard") => () => void exportEvent(id, kind, to);
  return (
    <Menu
      label="Export as fixture or capture"
      items={[
        { label: "Save as fixture", hint: "For the app's own tests", run: make("fixture", "file") },
        { label: "Copy as fixture", run: make("fixture", "clipboard") },
        { label: "Save redacted capture", hint: "For the dev server", run: make("capture", "file") },
        { label: "Copy redacted capture", run: make("capture", "clipboard") },
      ]}
    >
      <Icon name="download" /> Export <Icon name="chevron" />
    </Menu>
  );
}
