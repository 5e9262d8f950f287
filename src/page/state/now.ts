import { computed, signal } from "@preact/signals";
import type { StateNow } from "../../web/api/now.js";

/** The state at this moment, by the stream; null before its first message. */
export const now = signal<StateNow | null>(null);

/** Why the app cannot read its store; null while it can. */
export const storeTrouble = computed(() => now.value?.trouble ?? null);
