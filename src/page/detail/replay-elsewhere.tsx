import { useState } from "preact/hooks";
import { replay } from "../state/actions.js";
import { session } from "../state/session.js";
import { FormDialog, closeDialog, openDialog } from "../ui/dialog.js";

/** The last target that the dev server took. */
let lastTarget = "";

/** Asks for a target, and replays to it. */
export function replayElsewhere(ids: string[]): void {
  openDialog(<TargetDialog ids={ids} />);
}

async function replayTo(target: string, ids: string[]): Promise<void> {
  const report = await replay({ ids, mode: "resign", target });
  if (report !== null) lastTarget = target;
}

function TargetDialog({ ids }: { ids: string[] }) {
  const [target, setTarget] = useState(lastTarget);
  const send = () => {
    if (target.trim() === "") return;
    closeDialog();
    void replayTo(target.trim(), ids);
  };
  const offered = new Set([lastTarget, ...(session.value?.forwards.map((forward) => forward.target) ?? [])]);
  const what = ids.length === 1 ? "it" : `${ids.length} deliveries`;
  return (
    <FormDialog title={`Replay ${what} to another URL`} verb="Replay" onSubmit={send}>
      <label class="form-field">
        Target
        <input
          type="text"
          autofocus
          required
          list="known-targets"
          placeholder="3001 or http://localhost:3001/hooks/mail"
          spellcheck={false}
          value={target}
          onInput={(event) => setTarget(event.currentTarget.value)}
        />
      </label>
      <datalist id="known-targets">
        {[...offered].map((each) => (
          <option value={each} key={each} />
        ))}
      </datalist>
      <p class="hint">
        Signed again, with the same event id. A target without a path gets the captured one; addresses outside this
        machine and its private network need --allow-remote.
      </p>
    </FormDialog>
  );
}
