import type { Capture } from "../../capture/model/capture.js";
import { EXPORT_CHOICES } from "./export-choices.js";
import { editCapture } from "../edit/editing.js";
import { copyCurl, exportAs, remove, replay, share, togglePin } from "../state/actions.js";
import { Icon } from "../ui/icon.js";
import { IconButton } from "../ui/icon-button.js";
import { Menu } from "../ui/menu.js";
import { editLabels } from "./label-dialog.js";
import { replayElsewhere } from "./target-dialog.js";

/** Actions for the open capture. */
export function ActionBar({ capture }: { capture: Capture }) {
  const ids = [capture.id];
  return (
    <div class="actions" role="toolbar" aria-label="Delivery">
      <ReplayButtons ids={ids} />
      <button
        type="button"
        class="button"
        title="Edit the body and send it, signed again (e)"
        onClick={() => editCapture(capture)}
      >
        <Icon name="edit" /> Edit & replay
      </button>
      <button
        type="button"
        class="button"
        title="Copy as a cURL command, signed again (c)"
        onClick={() => void copyCurl(capture.id)}
      >
        <Icon name="copy" /> cURL
      </button>
      <span class="spring" />
      <IconButtons capture={capture} />
    </div>
  );
}

function ReplayButtons({ ids }: { ids: string[] }) {
  return (
    <span class="button-pair">
      <button
        type="button"
        class="button primary"
        title="Send again with a new signature and the same event id (r)"
        onClick={() => void replay({ ids, mode: "resign" })}
      >
        <Icon name="replay" /> Replay
      </button>
      <Menu
        label="Other ways to replay"
        class="button primary"
        items={[
          {
            label: "Signed again",
            hint: "same event id, new time: a duplicate for a receiver that has it",
            run: () => void replay({ ids, mode: "resign", sameId: true }),
          },
          {
            label: "With a new event id",
            hint: "signed again: handlers run again",
            run: () => void replay({ ids, mode: "resign", sameId: false }),
          },
          {
            label: "Exactly as captured",
            hint: "same bytes and headers: stale after 300 s",
            run: () => void replay({ ids, mode: "exact" }),
          },
          {
            label: "Twice, same event id",
            hint: "the second must have no effect",
            run: () => void replay({ ids, mode: "resign", times: 2 }),
          },
          {
            label: "To another URL…",
            hint: "signed again, to any app on this machine",
            run: () => replayElsewhere(ids),
          },
        ]}
      >
        <Icon name="chevron" />
      </Menu>
    </span>
  );
}

function IconButtons({ capture }: { capture: Capture }) {
  const ids = [capture.id];
  return (
    <span class="action-icons">
      <IconButton icon="tag" label="Tags and note" title="Tags and note (t)" onClick={() => editLabels(capture)} />
      <IconButton
        icon="pin"
        label="Pin"
        title={capture.pinned ? "Unpin (p)" : "Pin: keep it despite the limits (p)"}
        isOn={capture.pinned}
        onClick={() => void togglePin(ids)}
      />
      <IconButton
        icon="share"
        label="Share file"
        title="Save a file to share: addresses, texts, signature and answers removed"
        onClick={() => void share(ids)}
      />
      <Menu
        label="Export"
        class="icon-button"
        items={EXPORT_CHOICES.map(({ as, label, hint }) => ({ label, hint, run: () => void exportAs(ids, as) }))}
      >
        <Icon name="download" />
      </Menu>
      <IconButton icon="trash" label="Delete" title="Delete (Del)" onClick={() => void remove(ids)} />
    </span>
  );
}
