import { escapeControls } from "../../../base/text.js";
import type { StoreTrouble } from "../../../web/api/now.js";
import { Icon } from "../../ui/icon.js";
import { streamState } from "../../state/stream-state.js";
import { PausedBanners } from "../../message/paused-banners.js";
import { storeTrouble } from "../../state/now.js";

/** What everybody must know on every view: handlers that are paused, and that the page is not live. */
export function Banners() {
  const isLost = streamState.value === "lost" || streamState.value === "ended";
  return (
    <>
      {isLost && (
        <p class="banner bad" role="alert">
          <Icon name="warning" />
          {streamState.value === "ended" ? "The receiver has stopped." : "The app does not answer."} What is shown may
          be old. The page connects again by itself.
        </p>
      )}
      {!isLost && storeTrouble.value !== null && <TroubleBanner trouble={storeTrouble.value} />}
      <PausedBanners />
    </>
  );
}

function TroubleBanner({ trouble: { message, advice } }: { trouble: StoreTrouble }) {
  return (
    <p class="banner bad" role="alert">
      <Icon name="warning" />
      <span>
        <b>The store cannot be read.</b> {escapeControls(message)} {escapeControls(advice)} The overview shows this
        process alone, from its memory. Other processes and lists are not shown, and nothing can be changed. The page
        goes on by itself once the store is back.
      </span>
    </p>
  );
}
