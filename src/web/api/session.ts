/*
 * The protocol between the page and the server of the dashboard: JSON under `api/`, relative to where the dashboard is
 * mounted. The page builds relative URLs only, so that any mount works. The page itself is at the mount with a slash at
 * its end; without it the server redirects there. What each view asks for is in the file of that view, beside this one
 * or in dashboard/state-now.ts and job-body.ts. The dev server answers errors, events, handlers and the outbox alike,
 * for one person who may do all.
 *
 * GET  api/session                             → PageSession
 *
 * Keys of contact events are digests of their contacts, and groups of errors of their messages. So the API gives names
 * of them, which are the same for everybody and open for everybody. Whose `payloads` are `full` gets keys beside them,
 * and may ask by keys and groups as other tools name them.
 *
 * `since` and `until` are ISO 8601, or an age such as `8d`. An empty parameter counts as left out. In a path, `{id}` is
 * encoded by encodeURIComponent; `.` and `..` have a `~` in front. Pages of lists may be short or empty and still have
 * a `nextCursor`.
 *
 * Every POST has `content-type: application/json`, a JSON object as its body, and the header PERSON_HEADER with the
 * name of the session, encoded by encodeURIComponent. Errors: the status and PageApiErrorBody. Codes that the page
 * should know: `other_person` (403: another one is signed in now, and did not ask for it), `not_allowed` (403: the
 * person may only read), `payload_hidden` (403), `signed_out` (403: `allow` serves nobody by that request any more),
 * `no_such_path` (404), `too_many_streams` (503), `stopped` (503: the receiver has stopped).
 *
 * While the store cannot be read, `session`, `overview`, `running` and `stream` are answered from the memory of this
 * process, with a StoreTrouble; all else is answered 503 with the code of the store's error.
 */

/** Says with every POST for whom the page was loaded. */
export const PERSON_HEADER = "x-pigeonhole-person";

/** What a person may do: look, or also act. */
export type DashboardRole = "read" | "operate";

/**
 * How much of payloads a person may see. `hidden`: nothing. `redacted`: without personal data. `full`: redacted until
 * the person unveils an event, which is logged.
 */
export type PayloadAccess = "hidden" | "redacted" | "full";

/** The values of {@link PayloadAccess}, from nothing to all. */
export const PAYLOAD_ACCESS = ["hidden", "redacted", "full"] as const satisfies readonly PayloadAccess[];

/** Who looks, and what the person may do. */
export interface PageSession {
  /** Version of this package. */
  version: string;
  /** Name of the person as the app gave it; every action is logged with it. */
  name: string;
  role: DashboardRole;
  payloads: PayloadAccess;
  /** Path of the file, or server and database without the password; null before the receiver has opened it. */
  database: string | null;
  /** Names of the handlers that this process has, in their order, for filters. */
  handlers: string[];
}
