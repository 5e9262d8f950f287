import type { ComponentChildren } from "preact";
import type { Capture } from "../../capture/model/capture.js";
import type { ReplayBody, ExportBody } from "../../dev/api/page-api.js";
import { editCapture } from "../edit/edit-drawer.js";
import { copyCurl, remove, replay, share, togglePin, exportAs } from "../state/actions.js";
import { Button, IconButton } from "../ui/button.js";
import { Icon } from "../ui/icon.js";
import { Menu } from "../ui/menu.js";
import { editLabels } from "./label-dialog.js";
import { replayElsewhere } from "./replay-elsewhere.js";

/** Actions for the open capture. */
export function ActionBar({ capture }: { capture: Capture }) {
  const ids = [capture.id];
  return (
    <div class="actions" role="toolbar" aria-label="Delivery">
      <ReplayButtons ids={ids} />
      <Button
        icon="edit"
        label="Edit & replay"
        title="Edit the body and send it, signed again (e)"
        run={() => editCapture(capture)}
      />
      <Button
        icon="copy"
        label="cURL"
        title="Copy as a cURL command, signed again (c)"
        run={() => copyCurl(capture.id)}
      />
      <span class="spring" />
      <IconButtons capture={capture} />
    </div>
  );
}

function ReplayButtons({ ids }: { ids: string[] }) {
  const way = (label: string, hint: string, how: Partial<ReplayBody>) => {
    return { label, hint, run: () => void replay({ ids, mode: "resign", ...how }) };
  };
  return (
    <span class="button-pair">
      <Button
        icon="replay"
        label="Replay"
        class="primary"
        title="Send again with a new signature and the same event id (r)"
        run={() => replay({ ids, mode: "resign" })}
      />
      <Menu
        label="Other ways to replay"
        class="button primary"
        items={[
          way("Signed again", "same event id, new time: a duplicate for a receiver that has it", { sameId: true }),
          way("With a new event id", "signed again: handlers run again", { sameId: false }),
          way("Exactly as captured", "same bytes and headers: stale after 300 s", { mode: "exact" }),
          way("Twice, same event id", "the second must have no effect", { times: 2 }),
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
      <ExportMenu ids={ids} class="icon-button">
        <Icon name="download" />
      </ExportMenu>
      <IconButton icon="trash" label="Delete" title="Delete (Del)" onClick={() => void remove(ids)} />
    </span>
  );
}

const CHOICES: readonly { as: ExportBody["as"]; label: string; hint: string }[] = [
  { as: "json", label: "JSON", hint: "a fixture to keep in the repository" },
  { as: "ndjson", label: "NDJSON", hint: "one capture per line" },
  { as: "curl", label: "cURL", hint: "a shell script, signed again" },
];

interface ExportMenuOptions {
  ids: string[];
  class: string;
  children: ComponentChildren;
}

/** Saves captures in one of several formats. */
export function ExportMenu({ ids, class: look, children }: ExportMenuOptions) {
  const items = CHOICES.map(({ as, label, hint }) => ({ label, hint, run: () => void exportAs(ids, as) }));
  return (
    <Menu label="Export" class={look} items={items}>
      {children}
    </Menu>
  );
}
