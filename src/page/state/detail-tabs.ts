import { computed } from "@preact/signals";
import { readParam, setParams } from "./address.js";

export const DETAIL_TABS = ["payload", "headers", "raw", "answer", "handlers", "attempts", "signature"] as const;

export type DetailTab = (typeof DETAIL_TABS)[number];

export const detailTab = computed(() => DETAIL_TABS.find((name) => name === readParam("tab")) ?? "payload");

export function showTab(tab: DetailTab): void {
  setParams({ tab: tab === "payload" ? "" : tab, attempt: "" });
}
