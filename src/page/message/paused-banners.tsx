import { escapeControls } from "../../base/text.js";
import { pausedHandlers, resumePaused } from "../state/handlers.js";
import { mayOperate } from "../state/session.js";
import { formatExactTime, formatTime, plural } from "../ui/format.js";
import { Icon } from "../ui/icon.js";

/** Handlers that are paused, with what waits for them. */
export function PausedBanners() {
  return (
    <>
      {pausedHandlers.value.map(({ handler, since, by, pending }) => (
        <p class="banner warn" role="status" key={handler}>
          <Icon name="pause" />
          <span>
            Handler <b>{escapeControls(handler)}</b> is paused
            <span class="hint" title={formatExactTime(since)}>
              {" "}
              since {formatTime(since)} by {escapeControls(by)}; {plural(pending, "piece")} of work{" "}
              {pending === 1 ? "waits" : "wait"}
            </span>
          </span>
          {mayOperate.value && (
            <button type="button" class="button small" onClick={() => void resumePaused(handler)}>
              Resume<span class="unseen"> {escapeControls(handler)}</span>
            </button>
          )}
        </p>
      ))}
    </>
  );
}
