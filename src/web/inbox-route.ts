import type { DashboardRole, PayloadAccess } from "./api/session.js";
import type { WebCall } from "./find-route.js";

/** Who sends a request, and what they may do. */
export interface Viewer {
  name: string;
  role: DashboardRole;
  payloads: PayloadAccess;
}

/** One call of the files in `api/`, by a person who may make it. */
export interface InboxCall extends WebCall {
  person: Viewer;
}

/** A path that the dashboard and the dev server answer alike. */
export interface InboxRoute {
  method: "GET" | "POST";
  /** With `{id}` in place of one segment. */
  path: string;
  /** Who may call it: those who look, those who act, or those who may see payloads. */
  needs: "read" | "operate" | "payload";
  /** True for one that shows people who may see all contacts, or finds errors, as they are: logged with the name. */
  quotes?: true;
  handle(call: InboxCall): unknown;
}
