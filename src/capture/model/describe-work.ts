import { NOTE_HANDLER } from "../../base/note-handler.js";

/* Without node: imports, since the page uses it too. */

/** One handler's work on an event, as an inbox or the dev server's page has it. */
interface Work {
  /** Empty for the note of an event that was not understood. */
  handler: string;
  state: string;
  reason?: string | null | undefined;
  error?: string | null | undefined;
}

/** Such as `Handler crm is dead: do_not_retry: no such customer`. */
export function describeWork({ handler, state, reason, error }: Work): string {
  const what = handler === NOTE_HANDLER ? "The event" : `Handler ${handler}`;
  const because = [reason, error].filter((text) => typeof text === "string").join(": ");
  return `${what} is ${state}${because === "" ? "." : `: ${because}`}`;
}
