import { escapeControls } from "../../base/text.js";
import { pausedHandlers, resumePaused } from "../state/handlers.js";
import { mayOperate } from "../state/session.js";
import { Button } from "../ui/button.js";
import { formatExactTime, formatTime, plural } from "../text/format.js";
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
            <Button class="small" run={() => resumePaused(handler)}>
              Resume<span class="unseen"> {escapeControls(handler)}</span>
            </Button>
          )}
        </p>
      ))}
    </>
  );
}
