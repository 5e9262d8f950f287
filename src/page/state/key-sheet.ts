import { signal } from "@preact/signals";

export const isSheetOpen = signal(false);
