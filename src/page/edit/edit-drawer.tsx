import { escapeControls } from "../../base/text.js";
import { useState } from "preact/hooks";
import type { Capture, CaptureAttempt } from "../../capture/model/capture.js";
import { requestReplay } from "../api/calls.js";
import { AnswerView } from "../message/answer-view.js";
import { bodyAsText } from "../message/body-bytes.js";
import { saveFixture } from "../state/actions.js";
import { loadDetail } from "../state/detail.js";
import { runAction } from "../state/notice.js";
import { Dialog } from "../ui/dialog.js";
import { CloseButton } from "../ui/icon-button.js";
import { Icon } from "../ui/icon.js";
import { draftOf, editing, keepDraft, startText, stopEditing } from "./editing.js";
import { JsonEditor } from "./json-editor.js";
import { onSendKey } from "./send-key.js";

/** The editor over the page, the answer beside it. */
export function EditDrawer() {
  const capture = editing.value;
  return capture === null ? null : <Drawer key={capture.id} capture={capture} />;
}

function Drawer({ capture }: { capture: Capture }) {
  const [text, setText] = useState(() => draftOf(capture));
  const [resets, setResets] = useState(0);
  const [wantsNewId, setWantsNewId] = useState<boolean | null>(null);
  const [isSending, setSending] = useState(false);
  const [answer, setAnswer] = useState<CaptureAttempt | null>(null);
  const isEdited = text !== startText(capture);
  const isNewId = wantsNewId ?? isEdited;

  const change = (next: string) => {
    setText(next);
    keepDraft(capture, next);
  };
  const undoAll = () => {
    change(startText(capture));
    setResets(resets + 1);
  };
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

  return (
    <Dialog label="Edit and replay" class="drawer" onClose={stopEditing} onKeyDown={onSendKey(() => void send())}>
      <Head type={capture.event.type ?? ""} />
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
        <SaveButton id={capture.id} text={isEdited ? text : bodyAsText(capture.request.body)} />
        <button type="button" class="button" disabled={!isEdited} onClick={undoAll}>
          Undo all
        </button>
        <button type="button" class="button primary" disabled={isSending} onClick={() => void send()}>
          <Icon name="send" /> {isSending ? "Sending…" : "Send"}
        </button>
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

function SaveButton({ id, text }: { id: string; text: string }) {
  return (
    <button
      type="button"
      class="button"
      title="Save this body, signed, as a capture file for pigeonhole test"
      onClick={() => void saveFixture(id, text)}
    >
      <Icon name="download" /> Save as fixture
    </button>
  );
}

function Head({ type }: { type: string }) {
  return (
    <header class="drawer-head">
      <h2>
        Edit & replay <span class="hint">{escapeControls(type)}</span>
      </h2>
      <span class="spring" />
      <CloseButton onClick={stopEditing} />
    </header>
  );
}
