import { useState } from "preact/hooks";
import type { Capture } from "../../capture/model/capture.js";
import { label } from "../state/actions.js";
import { FormDialog, closeDialog, openDialog } from "../ui/dialog.js";

/** Asks for the tags and the note of a capture. */
export function editLabels(capture: Capture): void {
  openDialog(<LabelDialog capture={capture} />);
}

function LabelDialog({ capture }: { capture: Capture }) {
  const [tags, setTags] = useState(capture.tags.join(", "));
  const [note, setNote] = useState(capture.note);
  const save = async () => {
    if (await label(capture.id, { tags: readTags(tags), note: note.trim() })) closeDialog();
  };
  return (
    <FormDialog title="Tags and note" verb="Save" onSubmit={save}>
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
    </FormDialog>
  );
}

function readTags(text: string): string[] {
  return [...new Set(text.split(",").map((tag) => tag.trim()))].filter((tag) => tag !== "");
}
