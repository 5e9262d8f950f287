import type { z } from "zod";
import { WHOLE_CHARACTERS } from "../protocol/envelope.js";
import { type Checked, type ValidationIssue, checkInput } from "./check-input.js";
import type { Operation } from "./operation.js";

/**
 * Checks what a caller sends to an operation: the schema, and that every text is well-formed. Contact events have only
 * the rules of their schema.
 */
export function checkCallInput<Schema extends z.ZodType>(
  { issueCodes, events }: Pick<Operation, "issueCodes" | "events">,
  schema: Schema,
  input: unknown,
): Checked<z.output<Schema>> {
  const checked = checkInput(schema, input, issueCodes);
  const issue = checked.ok && events === undefined ? findHalfCharacter(checked.value) : undefined;
  return issue === undefined ? checked : { ok: false, issue };
}

/**
 * The first text with half a surrogate pair, or the first object with such a key. UTF-8 cannot hold one, so a store or
 * a URL would change it.
 */
function findHalfCharacter(input: unknown): ValidationIssue | undefined {
  // A queue and not a recursion: the depth of a document has no limit.
  const queue: { param: string; value: unknown }[] = [{ param: "", value: input }];
  const seen = new Set<object>();
  for (const { param, value } of queue) {
    const isObject = typeof value === "object" && value !== null;
    const texts: unknown[] = isObject ? Object.keys(value) : [value];
    if (texts.some((text) => typeof text === "string" && !WHOLE_CHARACTERS.test(text))) {
      return { code: "invalid_parameter", param, message: "Must be well-formed Unicode." };
    }
    if (!isObject || seen.has(value)) continue;
    seen.add(value);
    for (const [key, member] of Object.entries(value)) {
      queue.push({ param: param === "" ? key : `${param}.${key}`, value: member });
    }
  }
  return undefined;
}
