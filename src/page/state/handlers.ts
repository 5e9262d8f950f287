import { computed, signal } from "@preact/signals";
import type { HandlerRow } from "../../web/api/handlers.js";
import { escapeControls } from "../../base/text.js";
import { confirmed } from "./confirmed.js";
import { runAction, showNotice } from "./notice.js";
import { now } from "./now.js";
import { postHandlerChange, fetchHandlers } from "../api/calls.js";

/** In the order of their names. */
export const handlers = signal<readonly HandlerRow[]>([]);

/** Handlers that do not run until they are resumed: as the stream says, or as they were read last where it does not. */
export const pausedHandlers = computed(
  () => now.value?.paused ?? handlers.value.flatMap(({ paused }) => (paused === null ? [] : [paused])),
);

/** @param since From when on their runs are counted, ISO 8601. Default: the last 24 hours. */
export function loadHandlers(since = ""): Promise<boolean> {
  return runAction(async () => void (handlers.value = (await fetchHandlers({ since })).handlers));
}

export async function askAndPause(handler: string): Promise<void> {
  const isSure = await confirmed({
    title: `Pause handler ${escapeControls(handler)}?`,
    text: "No process begins another run of it until it is resumed. Its work waits, and deliveries are still accepted.",
    verb: "Pause",
  });
  if (isSure) await change(handler, "pause", "Paused");
}

export const resumePaused = (handler: string) => change(handler, "resume", "Resumed");

function change(handler: string, to: "pause" | "resume", done: string): Promise<boolean> {
  return runAction(async () => {
    handlers.value = (await postHandlerChange(handler, to)).handlers;
    showNotice({ tone: "good", text: `${done}: ${escapeControls(handler)}` });
  });
}
