import { computed, signal } from "@preact/signals";
import type { DashboardSession } from "../../../dashboard/api/session.js";
import { reportProblem } from "../../state/notice.js";
import { fetchSession, followSession } from "../api/fetch-and-post.js";
import { storeTrouble } from "./now.js";

/** Null until the app has answered for the first time. */
export const dashboardSession = signal<DashboardSession | null>(null);

followSession((session) => {
  dashboardSession.value = session;
});

/** Whether actions are shown: not while the store cannot be read. The server checks each again. */
export const mayOperate = computed(() => dashboardSession.value?.role === "operate" && storeTrouble.value === null);

export type StreamState = "connecting" | "live" | "polling" | "lost" | "ended";

/** `polling`: the page has no stream and reads every few seconds. `ended`: the receiver has stopped, and said so. */
export const streamState = signal<StreamState>("connecting");

/** Whether what is shown is new. */
export const isUpToDate = computed(() => streamState.value === "live" || streamState.value === "polling");

export async function loadDashboardSession(): Promise<void> {
  try {
    await fetchSession();
  } catch (error) {
    reportProblem(error);
  }
}
