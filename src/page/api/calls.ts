import type {
  CaptureDetail,
  CapturePage,
  ContactEventPage,
  ExportBody,
  HandlerTimesReport,
  InboxOverview,
  MarkBody,
  ReplayBody,
  PageReplayReport,
  SendBody,
  SendReport,
  Session,
  SignatureReport,
  WorkList,
} from "../../dev/api/page-api.js";
import type { ContactEventDetail } from "../../operator/inbox-rows.js";
import type { InboxChange, InboxChanges } from "../../operator/change-each.js";
import type {
  AdvanceBody,
  AdvanceReport,
  EmitBody,
  EmitReport,
  FaultBody,
  SandboxState,
} from "../../dev/sandbox/sandbox-state.js";
import type { JobAction } from "../../dashboard/api/jobs.js";
import type { CaptureSummary, SignMode } from "../../capture/model/capture.js";
import { writeSegment } from "../../web/path-segment.js";
import { createJsonRequests } from "./json-request.js";

const { readJson, postJson } = createJsonRequests({
  server: "The dev server",
  ifSilent: "Is it still running?",
  session: "/api/session",
  // With this header, pages of other origins need a CORS preflight, which fails.
  postHeaders: () => ({ "x-pigeonhole": "1" }),
});

/** More than a dev server keeps. Only visible rows are rendered. */
const LIST_LIMIT = 50_000;

const at = writeSegment;

export const readSession = () => readJson<Session>("/api/session");

export const listCaptures = (query: string, signal: AbortSignal) =>
  readJson<CapturePage>(`/api/captures?${new URLSearchParams({ query, limit: String(LIST_LIMIT) })}`, signal);

export const readCapture = (id: string, signal?: AbortSignal) =>
  readJson<CaptureDetail>(`/api/captures/${at(id)}`, signal);

export const markCapture = (id: string, mark: MarkBody) =>
  postJson<CaptureSummary>(`/api/captures/${at(id)}/mark`, mark);

export const trySecret = (id: string, secret: string) =>
  postJson<SignatureReport>(`/api/captures/${at(id)}/try-secret`, { secret });

export const removeCaptures = (ids: string[]) => postJson<{ removed: number }>("/api/captures/remove", { ids });

export const requestCurl = (id: string, mode: SignMode) =>
  postJson<{ command: string }>(`/api/captures/${at(id)}/curl`, { mode });

export const requestExport = (body: ExportBody) =>
  postJson<{ name: string; mediaType: string; text: string }>("/api/captures/export", body);

export const writeFixture = (id: string, body: string) =>
  postJson<{ name: string; mediaType: string; text: string }>(`/api/captures/${at(id)}/fixture`, { body });

export const requestReplay = (body: ReplayBody) => postJson<PageReplayReport>("/api/replay", body);

export const readSample = (type: string) => readJson<{ body: string }>(`/api/samples/${at(type)}`);

export const sendEvent = (body: SendBody) => postJson<SendReport>("/api/send", body);

export const listWork = () => readJson<WorkList>("/api/work");

export const findWork = (id: string) => readJson<WorkList>(`/api/work?${new URLSearchParams({ id })}`);

export const readInbox = () => readJson<InboxOverview>("/api/inbox");

export const listHandlerTimes = () => readJson<HandlerTimesReport>("/api/inbox/handler-times");

export const changeInboxEvents = (ids: string[], change: JobAction) =>
  postJson<InboxChanges>(`/api/inbox/${change}`, { ids });

export const changeInboxEvent = (id: string, change: JobAction) =>
  postJson<InboxChange>(`/api/inbox/events/${at(id)}/${change}`, {});

export const listContactEvents = (filter: object) =>
  readJson<ContactEventPage>(`/api/inbox/contact-events?${new URLSearchParams({ ...filter })}`);

/** Those that handlers recorded for an event of the inbox, the newest of them. */
export const listRecordedContactEvents = (event: string) =>
  readJson<ContactEventPage>(`/api/inbox/contact-events?${new URLSearchParams({ inboxEventId: event })}`);

export const readContactEvent = (key: string) => readJson<ContactEventDetail>(`/api/inbox/contact-events/${at(key)}`);

export const changeContactEvents = (ids: string[], change: "retry" | "discard") =>
  postJson<InboxChanges>(`/api/inbox/contact-events/${change}`, { ids });

export const readSandbox = () => readJson<SandboxState>("/api/sandbox");

export const advanceSandbox = (body: AdvanceBody) => postJson<AdvanceReport>("/api/sandbox/advance", body);

export const addSandboxFault = (body: FaultBody) => postJson<SandboxState>("/api/sandbox/faults", body);

export const removeSandboxFault = (id: string) => postJson<SandboxState>(`/api/sandbox/faults/${at(id)}/remove`, {});

export const emitSandboxEvent = (body: EmitBody) => postJson<EmitReport>("/api/sandbox/emit", body);

export const resumeSandboxEndpoint = (id: string) =>
  postJson<SandboxState>(`/api/sandbox/endpoints/${at(id)}/resume`, {});
