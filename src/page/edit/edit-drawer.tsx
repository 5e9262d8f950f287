import { useState } from "preact/hooks";
import { escapeControls } from "../../base/text.js";
import type { Capture, CaptureAttempt } from "../../capture/model/capture.js";
import { requestReplay } from "../api/calls.js";
import { AnswerView } from "../message/answer-view.js";
import { bodyAsText } from "../message/body-view.js";
import { saveFixture } from "../state/actions.js";
import { loadDetail } from "../state/detail.js";
import { runAction } from "../state/notice.js";
import { Button, CloseButton } from "../ui/button.js";
import { Dialog, closeDialog, openDialog } from "../ui/dialog.js";
import { onSendKey } from "../ui/form.js";
import { JsonEditor } from "./json-editor.js";

/** Drafts that were not discarded, by capture. */
const drafts = new Map<string, string>();

/** Opens the editor over the page, with the answer beside it. */
export function editCapture(capture: Capture): void {
  openDialog(<EditDrawer capture={capture} />);
}

/** What is written over a body, which is kept while the page is open. */
function useDraft(capture: Capture) {
  const start = startText(capture);
  const [text, setText] = useState(drafts.get(capture.id) ?? start);
  const [resets, setResets] = useState(0);
  const change = (next: string) => {
    setText(next);
    if (next === start) drafts.delete(capture.id);
    else drafts.set(capture.id, next);
  };
  const undoAll = () => {
    change(start);
    setResets(resets + 1);
  };
  return { text, isEdited: text !== start, resets, change, undoAll };
}

function EditDrawer({ capture }: { capture: Capture }) {
  const { text, isEdited, resets, change, undoAll } = useDraft(capture);
  const [wantsNewId, setWantsNewId] = useState<boolean | null>(null);
  const [isSending, setSending] = useState(false);
  const [answer, setAnswer] = useState<CaptureAttempt | null>(null);
  const isNewId = wantsNewId ?? isEdited;

  const send = async () => {
    if (isSending) return;
    setSending(true);
    await runAction(async () => {
      // An unchanged text is sent as the captured bytes, not in its indented form.
      const edit = isEdited ? { body: text } : {};
      const identity = wantsNewId === null ? {} : { sameId: !wantsNewId };
      const report = await requestReplay({ ids: [capture.id], mode: "resign", ...identity, ...edit });
      setAnswer(report.attempts.at(-1)?.attempt ?? null);
      await loadDetail();
    });
    setSending(false);
  };
  const saved = isEdited ? text : bodyAsText(capture.request.body);

  return (
    <Dialog label="Edit and replay" class="drawer" onClose={closeDialog} onKeyDown={onSendKey(() => void send())}>
      <header class="drawer-head">
        <h2>
          Edit & replay <span class="hint">{escapeControls(capture.event.type ?? "")}</span>
        </h2>
        <span class="spring" />
        <CloseButton onClick={closeDialog} />
      </header>
      <div class="drawer-columns">
        <JsonEditor isFocused label="Body" text={text} resets={resets} onChange={change} onSubmit={() => void send()} />
        <section class="drawer-answer" aria-label="Answer" aria-live="polite" aria-busy={isSending}>
          {answer === null ? <NoAnswer /> : <AnswerView key={answer.n} attempt={answer} capture={capture} />}
        </section>
      </div>
      <footer class="drawer-foot">
        <label class="check-label">
          <input type="checkbox" checked={isNewId} onChange={(event) => setWantsNewId(event.currentTarget.checked)} />
          New event id, so that a receiver which has this event runs its handlers
        </label>
        <span class="spring" />
        <span class="hint">{isEdited ? "Bytes changed: signed again" : "Signed again with a new time"}</span>
        <Button
          icon="download"
          label="Save as fixture"
          title="Save this body, signed, as a capture file for pigeonhole test"
          run={() => saveFixture(capture.id, saved)}
        />
        <Button label="Undo all" disabled={!isEdited} run={undoAll} />
        <Button icon="send" label={isSending ? "Sending…" : "Send"} class="primary" disabled={isSending} run={send} />
      </footer>
    </Dialog>
  );
}

function NoAnswer() {
  return (
    <div class="nothing">
      <p>The answer of the app appears here.</p>
      <p class="hint">
        <kbd>Ctrl</kbd> <kbd>Enter</kbd> sends
      </p>
    </div>
  );
}

/** Where editing begins: JSON on a single line is indented, if it can be written without losing digits or names. */
function startText(capture: Capture): string {
  const text = bodyAsText(capture.request.body);
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text.trim() ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}
