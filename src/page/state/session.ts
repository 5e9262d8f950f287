import { computed } from "@preact/signals";
import type { Session } from "../../dev/api/page-api.js";
import { fetchSession, viewer } from "../api/calls.js";
import { face } from "../api/face.js";
import { isOfLogin, reportProblem, signedOut } from "./notice.js";
import { storeTrouble } from "./now.js";

/** The run of the dev server; null on the dashboard too. */
export const session = computed(() => (face === "dev" ? (viewer.value as Session | null) : null));

/** Whether actions are shown: not while the store cannot be read. The server checks each again. */
export const mayOperate = computed(() => viewer.value?.role === "operate" && storeTrouble.value === null);

/** Whether contacts, and texts of payloads, are shown, so that one can look for them. */
export const hasContacts = computed(() => viewer.value?.payloads !== "hidden");

export async function loadSession(): Promise<void> {
  try {
    await fetchSession();
  } catch (error) {
    reportProblem(error);
  }
}

/** Distinguishes a stopped dev server from another one at the same port, which does not know this browser. */
export async function checkSession(): Promise<void> {
  try {
    await fetchSession();
  } catch (error) {
    if (isOfLogin(error)) signedOut.value = true;
  }
}
