import { computed, signal } from "@preact/signals";
import { readParam, setParams } from "./address.js";

export const DETAIL_TABS = ["payload", "headers", "raw", "answer", "handlers", "attempts", "signature"] as const;

export type DetailTab = (typeof DETAIL_TABS)[number];

/** Of the open delivery until another one is chosen: where the page shows what is wrong with it. */
export const openedTab = signal<DetailTab>("payload");

export const detailTab = computed(() => DETAIL_TABS.find((name) => name === readParam("tab")) ?? openedTab.value);

export function showTab(tab: DetailTab): void {
  setParams({ tab, attempt: "" });
}
