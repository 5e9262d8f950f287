import { computed, signal } from "@preact/signals";
import type { DashboardSession } from "../../../dashboard/api/session.js";
import { reportProblem } from "../../state/notice.js";
import { fetchSession, followSession } from "../api/fetch-and-post.js";
import { storeTrouble } from "../../state/now.js";

/** Null until the app has answered for the first time. */
export const dashboardSession = signal<DashboardSession | null>(null);

followSession((session) => {
  dashboardSession.value = session;
});

/** Whether actions are shown: not while the store cannot be read. The server checks each again. */
export const mayOperate = computed(() => dashboardSession.value?.role === "operate" && storeTrouble.value === null);

export async function loadDashboardSession(): Promise<void> {
  try {
    await fetchSession();
  } catch (error) {
    reportProblem(error);
  }
}
