import { escapeControls } from "../../base/text.js";
import type { OutboxView } from "../../store/outbox.js";
import { countOf } from "../frame/format.js";
import type { Paint } from "../frame/output.js";
import { describeUnsureCall, describeCallInFront, nextTry } from "../values/next-try.js";

/** A contact event that a handler recorded, with what the API made of it. */
export function describeContactEvent(
  view: OutboxView,
  { inFront, paint }: { inFront: OutboxView | undefined; paint: Paint },
): string[] {
  const { key, name, contact, state, reason, error, code, param, message } = view;
  const subject = `${name === "" ? "(erased)" : name}${contact === "" ? "" : ` for ${contact}`}`;
  // In place of the service's message, a discarded one has the word again.
  const answer = [code, param, state === "discarded" ? null : message];
  const details = [
    ["key", key],
    ["answer", answer.filter((part) => part !== null && part !== "").join(" · ")],
    ["error", error ?? ""],
    ["why", describeCallInFront(view, inFront) ?? ""],
    ["call", describeUnsureCall(view) ?? ""],
  ].filter(([, value]) => value !== "");
  const rest = `${reason === null ? "" : ` (${reason})`}, ${factsOf(view, inFront).join(", ")}`;
  return [
    `  ${escapeControls(subject)}: ${paintWord(state, paint)}${escapeControls(rest)}`,
    ...details.map(([label = "", value = ""]) => `    ${label.padEnd(6)}  ${escapeControls(value)}`),
  ];
}

function factsOf(view: OutboxView, inFront: OutboxView | undefined): string[] {
  const { attempts, state, remoteId, recordedAt, settledAt } = view;
  const next = nextTry(view, inFront);
  return [
    countOf(attempts, "attempt"),
    ...(next === undefined ? [] : [state === "running" ? next : `next try ${next}`]),
    ...(remoteId === null ? [] : [`stored as ${remoteId}`]),
    settledAt === null ? `recorded ${recordedAt}` : `settled ${settledAt}`,
  ];
}

/** With a symbol beside the colour, which not everyone can see. */
function paintWord(word: string, paint: Paint): string {
  switch (word) {
    case "done":
      return paint.green("✓ done");
    case "dead":
      return paint.red("✗ dead");
    case "discarded":
      return paint.dim("– discarded");
    default:
      return paint.yellow(`… ${word}`);
  }
}
