import { computed, signal } from "@preact/signals";

/** `polling`: the page has no stream and reads every few seconds. `ended`: the receiver has stopped, and said so. */
export type StreamState = "connecting" | "live" | "polling" | "lost" | "ended";

export const streamState = signal<StreamState>("connecting");

/** Whether what is shown is new. */
export const isUpToDate = computed(() => streamState.value === "live" || streamState.value === "polling");
