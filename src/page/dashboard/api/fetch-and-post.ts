import type { DashboardContactEventDetail, DashboardContactEventPage } from "../../../dashboard/api/contact-events.js";
import type { InboxChanges, InboxChange } from "../../../operator/change-each.js";
import type { ErrorGroupPage } from "../../../dashboard/api/error-groups.js";
import type { DashboardEventDetail, EventDeliveries, FileText, UnveiledPayload } from "../../../dashboard/api/event.js";
import type { BulkJobList, BulkJobRow, JobBody, JobPreview } from "../../../dashboard/api/jobs.js";
import type { DashboardOverview, FigureRange } from "../../../dashboard/api/overview.js";
import { TOKEN_HEADER, type DashboardSession } from "../../../dashboard/api/session.js";
import type { DashboardEventPage, HandlerReport, RunningWork } from "../../../dashboard/api/work.js";
import { escapeControls } from "../../../base/text.js";
import { PageApiError } from "../../../web/page-api-error.js";
import { writeSegment } from "../../../web/path-segment.js";
import { createJsonRequests } from "../../api/json-request.js";

/** Of the last session that was read; the name is undefined before the first. */
let token = "";
let name: string | undefined;

let onSession: (session: DashboardSession) => void = () => undefined;

/** Each session that is read from now on is given to this. */
export function followSession(listener: (session: DashboardSession) => void): void {
  onSession = listener;
}

const SESSION = "api/session";

const { readJson, postJson } = createJsonRequests({
  server: "The app",
  ifSilent: "Does it still run, and is the network there?",
  session: SESSION,
  postHeaders: () => ({ [TOKEN_HEADER]: token }),
});

const at = writeSegment;

export async function fetchSession(): Promise<DashboardSession> {
  const session = await readJson<DashboardSession>(SESSION);
  // Without one, the server refuses actions with the reason.
  ({ token, name } = session);
  onSession(session);
  return session;
}

/** A POST, with a new token if the old one has ended. Not repeated for another person, who did not ask for it. */
async function change<Result>(path: string, body: object = {}): Promise<Result> {
  try {
    return await postJson<Result>(path, body);
  } catch (error) {
    if (!(error instanceof PageApiError && error.code === "token_expired")) throw error;
    const asked = name;
    const session = await fetchSession();
    if (asked !== undefined && session.name !== asked) throw otherPerson(asked, session.name);
    return postJson<Result>(path, body);
  }
}

function otherPerson(asked: string, now: string): PageApiError {
  return new PageApiError(403, {
    code: "other_person",
    message: escapeControls(
      `${now} is signed in now, no longer ${asked}. Nothing was done. To act as ${now}, do it again.`,
    ),
  });
}

/** Parameters of a list; an empty one is left out. */
export type ListFilter = Readonly<Record<string, string>>;

function withQuery(path: string, filter: ListFilter): string {
  const given = Object.entries(filter).filter(([, value]) => value !== "");
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

export const fetchOverview = (range: FigureRange) => readJson<DashboardOverview>(withQuery("api/overview", { range }));

export const fetchErrorGroups = (filter: ListFilter) => readJson<ErrorGroupPage>(withQuery("api/errors", filter));

export const fetchEvents = (filter: ListFilter) => readJson<DashboardEventPage>(withQuery("api/events", filter));

export const fetchEvent = (id: string) => readJson<DashboardEventDetail>(`api/events/${at(id)}`);

export const fetchDeliveries = (id: string) => readJson<EventDeliveries>(`api/events/${at(id)}/deliveries`);

export const postEventChange = (id: string, action: "retry" | "discard" | "run") =>
  change<InboxChange>(`api/events/${at(id)}/${action}`);

export const postUnveiling = (id: string) => change<UnveiledPayload>(`api/events/${at(id)}/payload`);

export const postExport = (id: string, kind: "fixture" | "capture") => change<FileText>(`api/events/${at(id)}/${kind}`);

export const fetchRunning = () => readJson<RunningWork>("api/running");

export const fetchHandlers = () => readJson<HandlerReport>("api/handlers");

export const postHandlerChange = (handler: string, action: "pause" | "resume") =>
  change<HandlerReport>(`api/handlers/${action}`, { handler });

export const postJobPreview = (body: JobBody) => change<JobPreview>("api/jobs/preview", body);

export const postJob = (body: JobBody) => change<BulkJobRow>("api/jobs", body);

export const fetchJobs = () => readJson<BulkJobList>("api/jobs");

export const postJobCancel = (id: string) => change<BulkJobRow>(`api/jobs/${at(id)}/cancel`);

export const fetchOutbox = (filter: ListFilter) => readJson<DashboardContactEventPage>(withQuery("api/outbox", filter));

export const fetchContactEvent = (key: string) => readJson<DashboardContactEventDetail>(`api/outbox/${at(key)}`);

export const postOutboxChange = (ids: string[], action: "retry" | "discard") =>
  change<InboxChanges>(`api/outbox/${action}`, { ids });
