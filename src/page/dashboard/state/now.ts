import { signal } from "@preact/signals";
import type { DashboardNow } from "../../../dashboard/dashboard-api.js";

/** The state at this moment, by the stream; null before its first message. */
export const now = signal<DashboardNow | null>(null);
