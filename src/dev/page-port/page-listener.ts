import type { IncomingMessage, RequestListener } from "node:http";
import { BodyFields } from "../../web/body-fields.js";
import type { BuiltFiles } from "../../web/built-files.js";
import { errorAnswer } from "../../web/error-answer.js";
import { PageApiError } from "../../web/page-api-error.js";
import { readFields } from "../../web/read-fields.js";
import { splitUrl } from "../../web/split-url.js";
import { type WebAnswer, eventStreamAnswer, jsonAnswer, textAnswer } from "../../web/web-answer.js";
import { type Viewer, type WebRoute, findRoute, noSuchPath } from "../../web/web-route.js";
import { writeAnswer } from "../../web/write-answer.js";
import type { EventStream } from "./event-stream.js";
import { guardRequest } from "./guard.js";
import type { GuardSecrets } from "./project-tokens.js";

const STREAM_PATH = "/api/stream";

/** The developer sees all and does all. */
export const DEVELOPER: Viewer = { name: "dev", role: "operate", payloads: "full" };

export interface PageListenerOptions {
  /** Read for every request, since the port is known only once it listens. */
  guard: () => GuardSecrets;
  routes: readonly WebRoute[];
  stream: EventStream;
  files: BuiltFiles;
  /** Largest JSON body of a change. */
  maxBodyBytes: number;
}

/** The page and its API. The guard checks every request first. */
export function createPageListener(options: PageListenerOptions): RequestListener {
  return (req, res) => {
    answerRequest(req, options)
      .catch(errorAnswer)
      .then((answer) => writeAnswer(req, res, answer))
      .catch(() => res.destroy());
  };
}

async function answerRequest(req: IncomingMessage, options: PageListenerOptions): Promise<WebAnswer> {
  const verdict = guardRequest(req, options.guard());
  if (verdict.kind === "refuse") return refuse(req, verdict);
  if (verdict.kind === "enter") return enter(req, verdict.cookie);
  const { path, query } = splitUrl(req.url ?? "/");
  const isRead = req.method === "GET" || req.method === "HEAD";
  if (path === STREAM_PATH && req.method === "GET") {
    return eventStreamAnswer((sink) => options.stream.open(sink, req.headers["last-event-id"]));
  }
  if (path.startsWith("/api/")) return answerApi(req, options, path, query);
  const file = isRead ? options.files.answer(path) : undefined;
  if (file === undefined) throw noSuchPath();
  return file;
}

async function answerApi(
  req: IncomingMessage,
  { routes, maxBodyBytes }: PageListenerOptions,
  path: string,
  query: string,
): Promise<WebAnswer> {
  const found = findRoute(routes, req.method === "HEAD" ? "GET" : (req.method ?? ""), path);
  if (found === undefined) throw noSuchPath();
  const body = req.method === "POST" ? await readFields(req, maxBodyBytes) : new BodyFields({});
  const call = { id: found.id, query: new URLSearchParams(query), body, person: DEVELOPER };
  return jsonAnswer(200, await found.route.handle(call));
}

/**
 * Goes to the page without the token in its URL. After a link on another site, such as a terminal in a browser, the
 * browser treats the whole chain of redirects as cross-site and does not send the strict cookie. A page of ours that
 * navigates by itself starts a new chain.
 */
function enter({ headers }: IncomingMessage, cookie: string): WebAnswer {
  const site = headers["sec-fetch-site"];
  const isForeign = site === "cross-site" || site === "same-site";
  const onward: Record<string, string> = isForeign ? { refresh: "0; url=/" } : { location: "/" };
  return {
    kind: "whole",
    status: isForeign ? 200 : 303,
    headers: { ...onward, "set-cookie": cookie, "content-type": "text/html" },
    body: "",
  };
}

function refuse(
  req: IncomingMessage,
  { status, code, message }: { status: number; code: string; message: string },
): WebAnswer {
  const isForPeople = req.headers.accept?.includes("text/html") === true;
  return isForPeople ? textAnswer(status, message) : errorAnswer(new PageApiError(status, { code, message }));
}
