import { asked } from "../state/confirmed.js";
import { Dialog } from "./dialog.js";

/** Shows the question that waits for an answer. */
export function ConfirmDialog() {
  const question = asked.value;
  if (question === null) return null;
  return (
    <Dialog label={question.title} class="confirm" onClose={() => question.settle(false)}>
      <h2>{question.title}</h2>
      <p>{question.text}</p>
      <div class="dialog-buttons">
        <button type="button" class="button" onClick={() => question.settle(false)}>
          Cancel
        </button>
        <button type="button" class="button danger" autofocus onClick={() => question.settle(true)}>
          {question.verb}
        </button>
      </div>
    </Dialog>
  );
}
