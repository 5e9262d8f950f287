import type { IncomingMessage, RequestListener } from "node:http";
import { BodyFields } from "../../web/body-fields.js";
import type { BuiltFiles } from "../../web/built-files.js";
import { errorAnswerFor } from "../../web/error-answer.js";
import { type WebRoute, findRoute } from "../../web/find-route.js";
import { fieldsOf, readJsonBody } from "../../web/json-body.js";
import { type WebAnswer, errorAnswer, eventStreamAnswer, jsonAnswer, textAnswer } from "../../web/web-answer.js";
import { writeAnswer } from "../../web/write-answer.js";
import type { EventStream } from "./event-stream.js";
import { guardRequest } from "./guard.js";
import type { GuardSecrets } from "./project-tokens.js";

const STREAM_PATH = "/api/stream";

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
      .catch((error: unknown) => {
        const { status, body } = errorAnswerFor(error);
        return errorAnswer(status, body);
      })
      .then((answer) => writeAnswer(req, res, answer))
      .catch(() => res.destroy());
  };
}

async function answerRequest(req: IncomingMessage, options: PageListenerOptions): Promise<WebAnswer> {
  const verdict = guardRequest(req, options.guard());
  if (verdict.kind === "refuse") return refuse(req, verdict);
  if (verdict.kind === "enter") return enter(req, verdict.cookie);
  const [path, query] = splitUrl(req.url ?? "/");
  const isRead = req.method === "GET" || req.method === "HEAD";
  if (path === STREAM_PATH && req.method === "GET") {
    return eventStreamAnswer((sink) => options.stream.open(sink, req.headers["last-event-id"]));
  }
  if (path.startsWith("/api/")) return answerApi(req, options, path, query);
  const file = isRead ? options.files.answer(path) : undefined;
  return file ?? errorAnswer(isRead ? 404 : 405, { code: "no_such_path", message: `There is no ${path}.` });
}

async function answerApi(
  req: IncomingMessage,
  { routes, maxBodyBytes }: PageListenerOptions,
  path: string,
  query: string,
): Promise<WebAnswer> {
  const match = findRoute(routes, req.method === "HEAD" ? "GET" : (req.method ?? ""), path);
  switch (match.kind) {
    case "no_such_path":
      return errorAnswer(404, { code: "no_such_path", message: `There is no ${path}.` });
    case "wrong_method":
      return errorAnswer(405, { code: "wrong_method", message: `${path} does not take ${req.method}.` });
    case "found": {
      const isChange = req.method === "POST";
      const body = isChange ? fieldsOf(await readJsonBody(req, maxBodyBytes), maxBodyBytes) : new BodyFields({});
      return jsonAnswer(200, await match.route.handle({ id: match.id, query: new URLSearchParams(query), body }));
    }
  }
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
  return isForPeople ? textAnswer(status, message) : errorAnswer(status, { code, message });
}

function splitUrl(url: string): [path: string, query: string] {
  const at = url.indexOf("?");
  return at === -1 ? [url, ""] : [url.slice(0, at), url.slice(at + 1)];
}
