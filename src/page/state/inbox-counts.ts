import { signal } from "@preact/signals";
import { type StoreFigures, withoutAges } from "../../operator/figures-now.js";
import { readInbox } from "../api/calls.js";
import { loadCaptures } from "./captures.js";
import { loadHandlers } from "./handlers.js";
import { reportProblem } from "./notice.js";

/** The number of events and contact events in each state; null until they are read, and without an inbox. */
export const inboxCounts = signal<StoreFigures | null>(null);

/** Reads the counts, and the list again where they show that the inbox has changed. */
export async function loadInboxCounts(): Promise<void> {
  try {
    const before = inboxCounts.value;
    const [next] = await Promise.all([readInbox(), loadHandlers()]);
    if (before !== null && JSON.stringify(withoutAges(before)) === JSON.stringify(withoutAges(next))) return;
    inboxCounts.value = next;
    if (before !== null) await loadCaptures();
  } catch (error) {
    reportProblem(error);
  }
}
