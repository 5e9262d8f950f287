import { computed, signal } from "@preact/signals";
import type { StateNow } from "../../dashboard/state-now.js";

/** The state at this moment, by the stream; null before its first message. */
export const now = signal<StateNow | null>(null);

/** Why the app cannot read its store; null while it can. */
export const storeTrouble = computed(() => now.value?.trouble ?? null);

/** `polling`: the page has no stream and reads every few seconds. `ended`: the receiver has stopped, and said so. */
export type StreamState = "connecting" | "live" | "polling" | "lost" | "ended";

export const streamState = signal<StreamState>("connecting");

/** Whether what is shown is new. */
export const isUpToDate = computed(() => streamState.value === "live" || streamState.value === "polling");
