import { type Notice, showNotice } from "./notice.js";

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
