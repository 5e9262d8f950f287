import type { BodyFields } from "../web/body-fields.js";

/** One request, whatever the server. */
export interface DashboardRequest {
  method: string;
  /** Behind the mount, not decoded; begins with a slash. */
  path: string;
  /** Without the question mark. */
  query: string;
  /** Last segment of the mount when the URL ends there without a slash, so that relative URLs would miss the mount. */
  bareMount: string | undefined;
  /** Of the server, for the app's `allow`. */
  original: unknown;
  /** The value of a header by its lower-case name; several are joined. */
  header(name: string): string | undefined;
  /** Rejects with the answer for a body that cannot be used. */
  readBody(): Promise<BodyFields>;
}

/** Largest body of an action: the keys of 500 contact events fit. */
export const MAX_ACTION_BYTES = 256 * 1024;
