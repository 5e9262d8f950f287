import type { AnswerJudgement } from "../../capture/model/answer.js";
import type { Paint } from "../frame/output.js";

/** The symbol before a line about an answer, in its colour. */
export function answerSign(judgement: AnswerJudgement, paint: Paint): string {
  return { good: paint.green("✓"), warning: paint.yellow("!"), bad: paint.red("✗") }[judgement];
}
