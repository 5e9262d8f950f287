import { signal } from "@preact/signals";
import { errorMessage } from "../../base/error-text.js";
import { PageApiError } from "../../web/page-api-error.js";

export interface Notice {
  id: number;
  tone: "good" | "warn" | "bad" | "plain";
  text: string;
  /** A button beside the text. */
  action?: { label: string; run: () => void };
}

/** How long a notice stays. What must be read stays longer. */
const STAYS_MS = { good: 3000, plain: 3000, warn: 8000, bad: 8000 } as const;

export const notices = signal<readonly Notice[]>([]);

/** Announced to screen readers (polite). */
export const announcement = signal("");

/** Set once the server says that this browser has no session. Nothing on the page works then. */
export const signedOut = signal(false);

let lastId = 0;

export function showNotice(notice: Omit<Notice, "id">): void {
  const id = ++lastId;
  // The same text again extends the notice.
  const others = notices.value.filter(({ text, tone }) => text !== notice.text || tone !== notice.tone);
  notices.value = [...others.slice(-3), { ...notice, id }];
  setTimeout(() => dismissNotice(id), STAYS_MS[notice.tone]);
}

export function dismissNotice(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}

/** Runs an action of the user. An error becomes a notice. Resolves with whether it succeeded. */
export async function runAction(run: () => Promise<void>): Promise<boolean> {
  try {
    await run();
    return true;
  } catch (error) {
    reportProblem(error);
    return false;
  }
}

/** Whether it is the answer to a browser that is not signed in any more. */
export function isOfLogin(error: unknown): boolean {
  return error instanceof PageApiError && (error.status === 401 || error.code === "signed_out");
}

export function reportProblem(error: unknown): void {
  if (error instanceof DOMException && error.name === "AbortError") return;
  if (isOfLogin(error)) {
    signedOut.value = true;
    return;
  }
  showNotice({ tone: "bad", text: errorMessage(error) });
}

/** How the app answered one of the deliveries that were sent. */
export interface SentAnswer {
  words: string;
  tone: Notice["tone"];
}

/** Says how the app answered, by the worst of the answers: `Sent 3 deliveries: 1 × 200 accepted, 2 × 200 duplicate`. */
export function reportAnswers(what: string, answers: readonly SentAnswer[], action?: Notice["action"]): void {
  const counts = new Map<string, number>();
  for (const { words } of answers) counts.set(words, (counts.get(words) ?? 0) + 1);
  const texts = [...counts].map(([words, count]) => (counts.size === 1 ? words : `${count} × ${words}`));
  const tone = (["bad", "warn", "good"] as const).find((each) => answers.some((answer) => answer.tone === each));
  showNotice({ tone: tone ?? "plain", text: `${what}: ${texts.join(", ")}`, ...(action && { action }) });
}
