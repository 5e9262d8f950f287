import type { AnswerJudgement } from "../../capture/model/answer.js";
import type { Paint } from "../frame/output.js";

/** The symbol before a line about an answer, in its colour. */
export function answerSign(judgement: AnswerJudgement, paint: Paint): string {
  switch (judgement) {
    case "good":
      return paint.green("✓");
    case "warning":
      return paint.yellow("!");
    case "bad":
      return paint.red("✗");
  }
}
