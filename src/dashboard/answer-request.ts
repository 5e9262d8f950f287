import { basename } from "node:path";
import { isPigeonholeError } from "../base/error.js";
import { BodyFields } from "../web/body-fields.js";
import type { BuiltFiles } from "../web/built-files.js";
import { asPageApiError, errorAnswer } from "../web/error-answer.js";
import { PageApiError } from "../web/page-api-error.js";
import { type WebAnswer, eventStreamAnswer, jsonAnswer, textAnswer } from "../web/web-answer.js";
import { type Viewer, type WebRoute, findRoute, noSuchPath } from "../web/web-route.js";
import { PERSON_HEADER } from "../web/api/session.js";
import type { DashboardRequest } from "./dashboard-request.js";
import type { ActionLog } from "../web/action-log.js";
import type { FailureLog } from "./failure-log.js";
import { guardOrigin } from "./guard-origin.js";
import { type Identity, type PersonRules, identifyViewer } from "./identify-viewer.js";
import type { LiveView } from "./live-view.js";
import { adviceFor } from "./store-trouble.js";

/** What requests are answered with. */
export interface AnswerTools {
  people: PersonRules;
  /** The options of the same names. */
  origin: string | undefined;
  hosts: readonly string[];
  /** Path of the database; undefined without a file. */
  file: string | undefined;
  files: BuiltFiles;
  /** Rejects with `stopped` while the receiver does not run, or as the store does. */
  open: () => Promise<readonly WebRoute[]>;
  /** Routes for those who look, which are answered while the store cannot be read too. */
  lasting: readonly WebRoute[];
  live: LiveView;
  /** Called after each action: what it changed is read again. */
  forgetReadings: () => void;
  /** Throws `stopped` once the receiver stops. */
  checkRunning: () => void;
  log: ActionLog;
  failures: FailureLog;
}

const STREAM_PATH = "/api/stream";

/**
 * The whole path of a request, in this order: who it is from, whether it may come from where it comes from, and then
 * the page or the API. Never rejects.
 */
export function createAnswer(tools: AnswerTools): (request: DashboardRequest) => Promise<WebAnswer> {
  return async (request) => {
    const identity = await identifyViewer(request.original, tools.people);
    if (identity.kind !== "person") return refuse(identity, request);
    const refusal = guardOrigin(request, tools);
    if (refusal?.hosts !== undefined) tools.failures.noteOrigin(refusal.hosts);
    if (refusal !== undefined) return errorAnswer(refusal.error);
    if (!request.path.startsWith("/api/")) return answerFile(tools, request);
    const { person } = identity;
    const answer = await answerApi(tools, request, person).catch((error: unknown) =>
      answerError(tools.failures, error),
    );
    return person.role === "read" && tools.file !== undefined ? withoutFolder(answer, tools.file) : answer;
  };
}

/** Who only looks learns the name of the database's file, and not where it is. */
function withoutFolder(answer: WebAnswer, file: string): WebAnswer {
  const hide = (text: string): string => text.replaceAll(JSON.stringify(file).slice(1, -1), basename(file));
  if (answer.kind === "whole") return { ...answer, body: hide(String(answer.body)) };
  const open: typeof answer.open = (sink) => answer.open({ ...sink, write: (text) => sink.write(hide(text)) });
  return { ...answer, open };
}

const REFUSALS: Record<Exclude<Identity["kind"], "person">, { status: number; code: string; message: string }> = {
  unset: {
    status: 403,
    code: "signed_out",
    message: `This dashboard serves nobody, since it does not know who may see it.
Give createDashboard the option allow: a function that gets the request and returns { role: "read" | "operate", name }
for a person who may, by what your login has put on the request, and nothing for anybody else.`,
  },
  refused: { status: 403, code: "signed_out", message: "You may not see this dashboard. Sign in first." },
  failed: {
    status: 500,
    code: "not_identified",
    message: "The app failed to say who you are. Its log has the error, in a line dashboard_allow_….",
  },
  late: {
    status: 503,
    code: "not_identified",
    message: "The app has not said in time who you are. Load the page again in a moment.",
  },
};

function refuse({ kind }: Exclude<Identity, { kind: "person" }>, request: DashboardRequest): WebAnswer {
  const { status, code, message } = REFUSALS[kind];
  const isForPage = request.path.startsWith("/api/");
  return isForPage ? errorAnswer(new PageApiError(status, { code, message })) : textAnswer(status, message);
}

function answerFile({ files }: AnswerTools, { method, path, query, bareMount }: DashboardRequest): WebAnswer {
  if (method === "POST")
    return errorAnswer(new PageApiError(405, { code: "wrong_method", message: "Actions are under api/." }));
  if (bareMount !== undefined) {
    // Not to the slash alone: some hosts redirect that back, as Next.js does.
    const location = `./${bareMount}/index.html${query === "" ? "" : `?${query}`}`;
    return { kind: "whole", status: 302, headers: { location }, body: "" };
  }
  return files.answer(path) ?? textAnswer(404, "The dashboard has no such page.");
}

async function answerApi(tools: AnswerTools, request: DashboardRequest, person: Viewer): Promise<WebAnswer> {
  const { method, path, query } = request;
  if (path === STREAM_PATH && method === "GET") {
    tools.checkRunning();
    return openStream(tools, person);
  }
  const { route, id } = await findIn(tools, method === "HEAD" ? "GET" : method, path);
  const isAction = method === "POST";
  if (isAction) checkPerson(request.header(PERSON_HEADER), person);
  checkRole(route, person, isAction);
  noteReading(tools.log, person, { ...route, path });
  const call = { id, query: new URLSearchParams(query), person };
  if (!isAction) return jsonAnswer(200, await route.handle({ ...call, body: new BodyFields({}) }));
  const body = await request.readBody();
  try {
    return jsonAnswer(200, await route.handle({ ...call, body }));
  } finally {
    tools.forgetReadings();
  }
}

async function findIn({ lasting, open }: AnswerTools, method: string, path: string) {
  const found = findRoute(lasting, method, path) ?? findRoute(await open(), method, path);
  if (found === undefined) throw noSuchPath();
  return found;
}

const TOO_MANY_STREAMS = "Too many pages are open, of all people or of you; this one reads by itself.";

function openStream({ live, log }: AnswerTools, person: Viewer): WebAnswer {
  if (live.isFullFor(person))
    return errorAnswer(new PageApiError(503, { code: "too_many_streams", message: TOO_MANY_STREAMS }));
  // Jobs may have been chosen by a text in errors.
  noteReading(log, person, { path: STREAM_PATH, quotes: true });
  return eventStreamAnswer((sink) => live.open(sink, person));
}

/** Who may see all sees contacts, and finds errors, as they are, without asking for each. */
function noteReading(
  log: ActionLog,
  person: Viewer,
  { path, quotes }: { path: string } & Pick<WebRoute, "quotes">,
): void {
  if (quotes === true && person.payloads === "full") log.noteSight(person, path);
}

/** What a page was loaded for one person is not done by another one, who is signed in now and did not ask for it. */
function checkPerson(asking: string | undefined, { name }: Viewer): void {
  if (asking === encodeURIComponent(name)) return;
  const message = "Another person is signed in than the one for whom the page was loaded. Load the page again.";
  throw new PageApiError(403, { code: "other_person", message });
}

function checkRole({ needs }: WebRoute, { role, payloads }: Viewer, isAction: boolean): void {
  const isForPayload = needs === "payload";
  if (isForPayload && payloads === "hidden")
    throw new PageApiError(403, { code: "payload_hidden", message: "You may not see payloads." });
  if (isAction && !isForPayload && role !== "operate")
    throw new PageApiError(403, { code: "not_allowed", message: "You may look, but not act." });
}

const FAILED = "The dashboard failed. The log of the app says why.";

/** Messages of this package say what to do; any other error is for the log only. */
function answerError(failures: FailureLog, error: unknown): WebAnswer {
  if (error instanceof PageApiError || isPigeonholeError(error)) {
    const { status, code, message, param } = asPageApiError(error);
    if (status >= 500) failures.note(error, "dashboard_failed");
    const advice = adviceFor(code);
    const full = advice === undefined ? message : `${message} ${advice}`;
    return errorAnswer(new PageApiError(status, { code, message: full, param }));
  }
  failures.note(error, "dashboard_failed");
  return errorAnswer(new PageApiError(500, { code: "internal_error", message: FAILED }));
}
