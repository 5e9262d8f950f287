import type { AnswerJudgement } from "../../capture/model/answer.js";

/** The tone in which an answer is shown. */
export const TONES = { good: "good", warning: "warn", bad: "bad" } as const satisfies Record<AnswerJudgement, string>;
