import { signal } from "@preact/signals";
import { PageApiError } from "../../web/page-api-error.js";
import { escapeControls } from "../../base/text.js";
import type {
  EventDeliveries,
  FileText,
  ListedEvent,
  RowPage,
  UnveiledPayload,
  WholeEvent,
} from "../../web/api/event.js";
import type { HandlerReport } from "../../web/api/handlers.js";
import type { PageSession } from "../../web/api/session.js";
import type { BulkJobList, JobBody } from "../../dashboard/job-body.js";
import type { FigureRange, OverviewFigures, RunningWork } from "../../dashboard/state-now.js";
import type { BulkJob, JobAction, JobChange } from "../../store/bulk-jobs.js";
import type { StoreFigures } from "../../operator/figures-now.js";
import type { RunCounts } from "../../store/inbox-operator.js";
import type { ErrorGroupList } from "../../store/error-groups.js";
import type { InboxChanges, InboxChange } from "../../operator/change-each.js";
import type { ListedContactEvent, WholeContactEvent } from "../../web/api/contact-events.js";
import type {
  CaptureDetail,
  CapturePage,
  ExportBody,
  MarkBody,
  ReplayBody,
  PageReplayReport,
  SendBody,
  SendReport,
  SignatureReport,
  WorkList,
} from "../../dev/api/page-api.js";
import type {
  AdvanceBody,
  AdvanceReport,
  EmitBody,
  EmitReport,
  FaultBody,
  SandboxState,
} from "../../dev/sandbox/sandbox-state.js";
import type { CaptureSummary, SignMode } from "../../capture/model/capture.js";
import { writeSegment } from "../../web/path-segment.js";
import { SESSION_PATH, postJson, readJson } from "./json-request.js";

/** Who looks, and what the person may do; null until the server has answered for the first time. */
export const viewer = signal<PageSession | null>(null);

const at = writeSegment;

export async function fetchSession(): Promise<PageSession> {
  return (viewer.value = await readJson<PageSession>(SESSION_PATH));
}

/** A POST. It is refused for another person than the one who asked for it, who is shown then. */
async function change<Result>(path: string, body: object = {}): Promise<Result> {
  const asked = viewer.value?.name ?? "";
  try {
    return await postJson<Result>(path, body, asked);
  } catch (error) {
    if (!(error instanceof PageApiError && error.code === "other_person")) throw error;
    const { name } = await fetchSession();
    throw otherPerson(asked, name);
  }
}

function otherPerson(asked: string, now: string): PageApiError {
  const message = `${now} is signed in now, no longer ${asked}. Nothing was done. To act as ${now}, do it again.`;
  return new PageApiError(403, { code: "other_person", message: escapeControls(message) });
}

/** More than a dev server keeps. Only visible rows are rendered. */
const LIST_LIMIT = 50_000;

export const listCaptures = (query: string, signal: AbortSignal) =>
  readJson<CapturePage>(`api/captures?${new URLSearchParams({ query, limit: String(LIST_LIMIT) })}`, signal);

export const readCapture = (id: string, signal?: AbortSignal) =>
  readJson<CaptureDetail>(`api/captures/${at(id)}`, signal);

export const markCapture = (id: string, mark: MarkBody) => change<CaptureSummary>(`api/captures/${at(id)}/mark`, mark);

export const trySecret = (id: string, secret: string) =>
  change<SignatureReport>(`api/captures/${at(id)}/try-secret`, { secret });

export const removeCaptures = (ids: string[]) => change<{ removed: number }>("api/captures/remove", { ids });

export const requestCurl = (id: string, mode: SignMode) =>
  change<{ command: string }>(`api/captures/${at(id)}/curl`, { mode });

export const requestExport = (body: ExportBody) => change<FileText>("api/captures/export", body);

export const writeFixture = (id: string, body: string) => change<FileText>(`api/captures/${at(id)}/fixture`, { body });

export const requestReplay = (body: ReplayBody) => change<PageReplayReport>("api/replay", body);

export const readSample = (type: string) => readJson<{ body: string }>(`api/samples/${at(type)}`);

export const sendEvent = (body: SendBody) => change<SendReport>("api/send", body);

export const listWork = () => readJson<WorkList>("api/work");

export const findWork = (id: string) => readJson<WorkList>(`api/work?${new URLSearchParams({ id })}`);

export const readInbox = () => readJson<StoreFigures>("api/inbox");

export const readSandbox = () => readJson<SandboxState>("api/sandbox");

export const advanceSandbox = (body: AdvanceBody) => change<AdvanceReport>("api/sandbox/advance", body);

export const addSandboxFault = (body: FaultBody) => change<SandboxState>("api/sandbox/faults", body);

export const removeSandboxFault = (id: string) => change<SandboxState>(`api/sandbox/faults/${at(id)}/remove`, {});

export const emitSandboxEvent = (body: EmitBody) => change<EmitReport>("api/sandbox/emit", body);

export const resumeSandboxEndpoint = (id: string) => change<SandboxState>(`api/sandbox/endpoints/${at(id)}/resume`, {});

/** Parameters of a list; an empty one is left out. */
export type ListFilter = Readonly<Record<string, string>>;

function withQuery(path: string, filter: ListFilter): string {
  const given = Object.entries(filter).filter(([, value]) => value !== "");
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

export const fetchOverview = (range: FigureRange) => readJson<OverviewFigures>(withQuery("api/overview", { range }));

export const fetchErrorGroups = (filter: ListFilter) => readJson<ErrorGroupList>(withQuery("api/errors", filter));

export const fetchEvents = (filter: ListFilter) => readJson<RowPage<ListedEvent>>(withQuery("api/events", filter));

export const fetchEvent = (id: string) => readJson<WholeEvent>(`api/events/${at(id)}`);

export const fetchDeliveries = (id: string) => readJson<EventDeliveries>(`api/events/${at(id)}/deliveries`);

export const postEventChange = (id: string, action: JobAction) => change<InboxChange>(`api/events/${at(id)}/${action}`);

export const postUnveiling = (id: string) => change<UnveiledPayload>(`api/events/${at(id)}/payload`);

export const postExport = (id: string, kind: "fixture" | "capture") => change<FileText>(`api/events/${at(id)}/${kind}`);

export const fetchRunning = () => readJson<RunningWork>("api/running");

export const fetchHandlers = (filter: ListFilter) => readJson<HandlerReport>(withQuery("api/handlers", filter));

export const postHandlerChange = (handler: string, action: "pause" | "resume") =>
  change<HandlerReport>(`api/handlers/${action}`, { handler });

export const postRunCounts = (body: JobBody) => change<RunCounts>("api/jobs/preview", body);

export const postJob = (body: JobBody) => change<BulkJob>("api/jobs", body);

export const fetchJobs = () => readJson<BulkJobList>("api/jobs");

export const postJobChange = (id: string, to: JobChange) => change<BulkJob>(`api/jobs/${at(id)}/${to}`);

export const fetchOutbox = (filter: ListFilter) =>
  readJson<RowPage<ListedContactEvent>>(withQuery("api/outbox", filter));

export const fetchContactEvent = (key: string) => readJson<WholeContactEvent>(`api/outbox/${at(key)}`);

export const postOutboxChange = (ids: string[], action: "retry" | "discard") =>
  change<InboxChanges>(`api/outbox/${action}`, { ids });
