import { computed, effect, signal, untracked } from "@preact/signals";
import { errorMessage } from "../../base/error-text.js";
import type { CaptureSummary } from "../../capture/model/capture.js";
import type { CaptureDetail } from "../../dev/api/page-api.js";
import { readCapture } from "../api/calls.js";
import { PageApiError } from "../../web/page-api-error.js";
import { readParam, setParams } from "./address.js";
import { diagnose } from "./diagnosis.js";
import { isOfLogin, reportProblem } from "./notice.js";
import { workOf } from "./work.js";
import { closeDetail, openId } from "./captures.js";

export const DETAIL_TABS = ["payload", "headers", "raw", "answer", "handlers", "attempts", "signature"] as const;

export type DetailTab = (typeof DETAIL_TABS)[number];

/** Of the open delivery until another one is chosen: where the page shows what is wrong with it. */
const openedTab = signal<DetailTab>("payload");

export const detailTab = computed(() => DETAIL_TABS.find((name) => name === readParam("tab")) ?? openedTab.value);

export function showTab(tab: DetailTab): void {
  setParams({ tab, attempt: "" });
}

/** The open capture; the last one is shown until the next one is loaded. */
export const detail = signal<CaptureDetail | null>(null);

/** Why the open capture cannot be shown; empty if it can. Otherwise another capture would stay on screen. */
export const detailProblem = signal("");

/** Whether it is the open capture, or another delivery of its event, which the detail names too. */
export function isOfOpenEvent({ id, eventId }: CaptureSummary): boolean {
  const open = detail.value?.capture;
  return id === openId.value || (open !== undefined && eventId !== null && open.event.id === eventId);
}

/** Moving through the list with a held key loads only the last row. */
const SETTLE_MS = 50;

let pending: AbortController | null = null;

/** Loads the open capture (again). */
export async function loadDetail(): Promise<void> {
  pending?.abort();
  const id = untracked(() => openId.value);
  if (id === "") return;
  const abort = new AbortController();
  pending = abort;
  try {
    const next = await readCapture(id, abort.signal);
    if (abort.signal.aborted) return;
    if (untracked(() => detail.value)?.capture.id !== id)
      openedTab.value = diagnose(next, workOf(next.summary))?.tab ?? "payload";
    detail.value = next;
    detailProblem.value = "";
  } catch (error) {
    if (abort.signal.aborted) return;
    if (error instanceof PageApiError && error.status === 404) closeDetail();
    else if (!isOfLogin(error) && untracked(() => detail.value)?.capture.id !== id) {
      detailProblem.value = errorMessage(error);
      return;
    }
    reportProblem(error);
  }
}

export function followOpenCapture(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return effect(() => {
    const id = openId.value;
    clearTimeout(timer);
    if (id === "") {
      pending?.abort();
      detail.value = null;
      detailProblem.value = "";
      return;
    }
    const isFirst = untracked(() => detail.value) === null;
    timer = setTimeout(() => void loadDetail(), isFirst ? 0 : SETTLE_MS);
  });
}
