import { announcement, dismissNotice, notices } from "../state/notice.js";
import { Icon } from "./icon.js";
import { IconButton } from "./icon-button.js";

/** Notices at the lower edge, also announced to screen readers. */
export function Notices() {
  return (
    <>
      <div class="notices" role="status">
        {notices.value.map(({ id, tone, text, action }) => (
          <div key={id} class={`notice ${tone}`}>
            <Icon name={tone === "bad" || tone === "warn" ? "warning" : "check"} />
            <span class="notice-text">{text}</span>
            {action !== undefined && (
              <button type="button" class="button small" onClick={() => action.run()}>
                {action.label}
              </button>
            )}
            <IconButton icon="cross" label="Dismiss" onClick={() => dismissNotice(id)} />
          </div>
        ))}
      </div>
      <div class="unseen" aria-live="polite">
        {announcement.value}
      </div>
    </>
  );
}
