import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { replay } from "../state/actions.js";
import { session } from "../state/session.js";
import { Dialog } from "../ui/dialog.js";
import { FormButtons } from "../ui/form-buttons.js";

/** Captures for which another target is being asked for; null when nobody is asked. */
const aiming = signal<string[] | null>(null);

/** What was typed last, to begin with. */
let lastTarget = "";

/** Asks where to, and replays there. */
export function replayElsewhere(ids: string[]): void {
  aiming.value = ids;
}

export function TargetDialog() {
  const ids = aiming.value;
  return ids === null ? null : <Question ids={ids} />;
}

function Question({ ids }: { ids: string[] }) {
  const [target, setTarget] = useState(lastTarget);
  const close = () => {
    aiming.value = null;
  };
  const send = (event: Event) => {
    event.preventDefault();
    if (target.trim() === "") return;
    lastTarget = target.trim();
    close();
    void replay({ ids, mode: "resign", target: lastTarget });
  };
  return (
    <Dialog label="Replay to another URL" class="form-dialog" onClose={close}>
      <form onSubmit={send}>
        <h2>Replay {ids.length === 1 ? "it" : `${ids.length} deliveries`} to another URL</h2>
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
          {session.value?.forwards.map((forward) => (
            <option value={forward.target} key={forward.target} />
          ))}
        </datalist>
        <p class="hint">
          Signed anew, with the same event id. A target without a path gets the captured one; addresses outside this
          machine and its private network need --allow-remote.
        </p>
        <FormButtons submit="Replay" onCancel={close} />
      </form>
    </Dialog>
  );
}
