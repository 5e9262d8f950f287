import { computed } from "@preact/signals";
import { captures } from "./captures.js";
import { readParam, setParams } from "./address.js";
import { createSelection } from "./create-selection.js";

/** The capture in the detail pane; empty if the pane is closed. */
export const openId = computed(() => readParam("open"));

/** The captures that are chosen for a common action. */
export const captureSelection = createSelection(() => captures.value.map(({ id }) => id));

export function openCapture(id: string): void {
  setParams({ open: id, attempt: "" });
}

export function closeDetail(): void {
  setParams({ open: "", tab: "", attempt: "" });
}
