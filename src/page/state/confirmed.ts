import { signal } from "@preact/signals";

interface Question {
  title: string;
  text: string;
  /** Text of the button that confirms. */
  verb: string;
}

/** The question that waits for an answer; null if there is none. */
export const asked = signal<(Question & { settle: (answer: boolean) => void }) | null>(null);

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
