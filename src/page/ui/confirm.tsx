import { signal } from "@preact/signals";
import { Dialog } from "./dialog.js";

interface Question {
  title: string;
  text: string;
  /** Text of the button that confirms. */
  verb: string;
}

const asked = signal<(Question & { settle: (answer: boolean) => void }) | null>(null);

/** Asks before something that cannot be undone. */
export function confirmed(question: Question): Promise<boolean> {
  asked.value?.settle(false);
  return new Promise((resolve) => {
    asked.value = {
      ...question,
      settle(answer) {
        asked.value = null;
        resolve(answer);
      },
    };
  });
}

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
