import { signal } from "@preact/signals";
import type { DashboardEventDetail, FileText } from "../../../web/api/event.js";
import { PageApiError } from "../../../web/page-api-error.js";
import { confirmed } from "../../state/confirmed.js";
import { copyText } from "../../state/copy-text.js";
import { reportProblem, runAction, showNotice } from "../../state/notice.js";
import { saveFile } from "../../state/save-file.js";
import { postEventChange, postExport, fetchEvent, postUnveiling } from "../../api/calls.js";

/** The event of the page; null before it is loaded. */
export const event = signal<DashboardEventDetail | null>(null);

/** Id that the store does not have; empty if it has the event. */
export const missing = signal("");

/** The unveiled payload, for as long as its page is open; null before. */
export const unveiled = signal<{ id: string; text: string } | null>(null);

/** Counts the requests, so that a late answer does not replace a newer one. */
let lastCall = 0;

export async function loadEvent(id: string): Promise<void> {
  const call = ++lastCall;
  if (event.value?.id !== id) [event.value, unveiled.value] = [null, null];
  try {
    const read = id === "" ? null : await fetchEvent(id);
    if (call !== lastCall) return;
    [event.value, missing.value] = [read, ""];
  } catch (error) {
    if (call !== lastCall) return;
    if (error instanceof PageApiError && error.status === 404) missing.value = id;
    else reportProblem(error);
  }
}

const DONE = { retry: "Retry requested", discard: "Discarded", run: "Due now" } as const;

export function actOn(id: string, action: "retry" | "discard" | "run"): Promise<boolean> {
  return runAction(async () => {
    if (action === "discard" && !(await mayDiscard())) return;
    const { changed } = await postEventChange(id, action);
    showNotice(
      changed === 0 ? { tone: "plain", text: "Nothing to change here" } : { tone: "good", text: DONE[action] },
    );
    await loadEvent(id);
  });
}

function mayDiscard(): Promise<boolean> {
  return confirmed({
    title: "Discard this event?",
    text: "Its unfinished work is ended permanently, without a run. What is done stays done.",
    verb: "Discard",
  });
}

/** Shows the payload as it was received, after a question: it is logged who did so. */
export function unveil(id: string): Promise<boolean> {
  return runAction(async () => {
    const isSure = await confirmed({
      title: "Show the payload in full?",
      text: "It can contain personal data. Your name is logged with the id of the event.",
      verb: "Show it",
    });
    if (isSure) unveiled.value = { id, text: (await postUnveiling(id)).text };
  });
}

/** Makes a file of the event, and saves it or puts it on the clipboard. */
export function exportEvent(id: string, kind: "fixture" | "capture", to: "file" | "clipboard"): Promise<boolean> {
  return runAction(async () => {
    const file: FileText = await postExport(id, kind);
    if (to === "file") saveFile(file);
    else await copyText(file.text, file.name);
  });
}
