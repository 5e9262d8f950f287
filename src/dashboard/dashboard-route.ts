import type { BodyFields } from "../web/body-fields.js";
import type { Viewer } from "./identify-viewer.js";

/** One call of the dashboard's API, by a person who may make it. */
export interface DashboardCall {
  /** The part of the path in place of `{id}`, decoded; empty without one. */
  id: string;
  query: URLSearchParams;
  /** Fields of the JSON body; none for a GET. */
  body: BodyFields;
  person: Viewer;
}

/** One call of the files in `api/`. */
export interface DashboardRoute {
  method: "GET" | "POST";
  /** With `{id}` in place of one segment. */
  path: string;
  /** Who may call it: those who look, those who act, or those who may see payloads. */
  needs: "read" | "operate" | "payload";
  /** True for one that shows people who may see all contacts, or finds errors, as they are: logged with the name. */
  quotes?: true;
  handle(call: DashboardCall): unknown;
}
