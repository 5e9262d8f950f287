import { signal } from "@preact/signals";
import type { Session } from "../../dev/api/page-api.js";
import { readSession } from "../api/calls.js";
import { PageApiError } from "../../web/page-api-error.js";
import { reportProblem, signedOut } from "./notice.js";

/** Null until the dev server has answered for the first time. */
export const session = signal<Session | null>(null);

export async function loadSession(): Promise<void> {
  try {
    session.value = await readSession();
  } catch (error) {
    reportProblem(error);
  }
}

/** Distinguishes a stopped dev server from another one at the same port, which does not know this browser. */
export async function checkSession(): Promise<void> {
  try {
    session.value = await readSession();
  } catch (error) {
    if (error instanceof PageApiError && error.status === 401) signedOut.value = true;
  }
}
