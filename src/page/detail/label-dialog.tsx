import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import type { Capture } from "../../capture/model/capture.js";
import { userTags } from "../../dev/forward/held-tag.js";
import { onSendKey } from "../edit/send-key.js";
import { label } from "../state/actions.js";
import { Dialog } from "../ui/dialog.js";
import { FormButtons } from "../ui/form-buttons.js";

/** The capture whose tags and note are being edited; null if none is. */
const labelling = signal<Capture | null>(null);

export function editLabels(capture: Capture): void {
  labelling.value = capture;
}

export function LabelDialog() {
  const capture = labelling.value;
  return capture === null ? null : <Labels key={capture.id} capture={capture} />;
}

function Labels({ capture }: { capture: Capture }) {
  const [tags, setTags] = useState(userTags(capture).join(", "));
  const [note, setNote] = useState(capture.note);
  const close = () => {
    labelling.value = null;
  };
  const save = async () => {
    const isSaved = await label(capture.id, { tags: readTags(tags), note: note.trim() });
    if (isSaved) close();
  };
  return (
    <Dialog label="Tags and note" class="form-dialog" onClose={close} onKeyDown={onSendKey(() => void save())}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <h2>Tags and note</h2>
        <label class="form-field">
          Tags
          <input
            type="text"
            autofocus
            placeholder="vip, refund"
            spellcheck={false}
            value={tags}
            onInput={(event) => setTags(event.currentTarget.value)}
          />
        </label>
        <label class="form-field">
          Note
          <textarea rows={4} value={note} onInput={(event) => setNote(event.currentTarget.value)} />
        </label>
        <p class="hint">
          Both are kept in the capture's file; <code>tag:vip</code> and <code>has:note</code> find them.
        </p>
        <FormButtons submit="Save" onCancel={close} />
      </form>
    </Dialog>
  );
}

function readTags(text: string): string[] {
  return [...new Set(text.split(",").map((tag) => tag.trim()))].filter((tag) => tag !== "");
}
