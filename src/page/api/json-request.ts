import { PageApiError, type PageApiErrorBody } from "../../web/page-api-error.js";
import { PERSON_HEADER } from "../../web/api/session.js";
import { SERVER, addressOf, face } from "./face.js";

/** What the user may look at if nothing answers. */
const IF_SILENT = { dev: "Is it still running?", dashboard: "Does it still run, and is the network there?" }[face];

/** Answers everybody who is signed in. */
export const SESSION_PATH = "api/session";

export function readJson<Result>(path: string, signal?: AbortSignal): Promise<Result> {
  return exchange(path, signal === undefined ? {} : { signal });
}

/** `name`: of the person who asks for it. */
export function postJson<Result>(path: string, body: object, name: string): Promise<Result> {
  const person = { [PERSON_HEADER]: encodeURIComponent(name) };
  // With these headers, pages of other origins need a CORS preflight, which fails.
  const headers = { "content-type": "application/json", "x-pigeonhole": "1", ...person };
  return exchange(path, { method: "POST", headers, body: JSON.stringify(body) });
}

/** An answer that is no success is thrown as a {@link PageApiError}. */
async function exchange<Result>(path: string, init: RequestInit): Promise<Result> {
  const response = await reach(path, init);
  if (response.ok && !isPage(response)) return (await response.json()) as Result;
  const body = await readErrorBody(response);
  if (isForeign(response, body) && (await isSignedOut(addressOf(SESSION_PATH)))) throw signedOut();
  throw new PageApiError(response.status, body);
}

async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(addressOf(path), { ...init, credentials: "same-origin" });
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    if (await isRedirected(addressOf(SESSION_PATH))) throw signedOut();
    throw new PageApiError(0, { code: "unreachable", message: `${SERVER} does not answer. ${IF_SILENT}` });
  }
}

/** Code of an error answer that does not say what it is. */
const REFUSED = "refused";

/** Not from the API: of a login, or of something else before the server, such as a firewall that refuses a word. */
function isForeign({ ok, status }: Response, { code }: PageApiErrorBody): boolean {
  return ok || (status === 403 && code === REFUSED);
}

function signedOut(): PageApiError {
  return new PageApiError(401, { code: "signed_out", message: "You are not signed in any more." });
}

async function readErrorBody(response: Response): Promise<PageApiErrorBody> {
  if (response.ok) return { code: REFUSED, message: `${SERVER} answered with a page in place of data.` };
  const text = await response.text();
  try {
    const body = JSON.parse(text) as Partial<PageApiErrorBody>;
    if (typeof body.message === "string") return { code: REFUSED, ...body, message: body.message };
  } catch {
    // Not from the API: reported by its status below.
  }
  return { code: REFUSED, message: `${SERVER} answered ${response.status}.` };
}

/**
 * Whether a login answers in place of the server, by asking for what everybody gets who is signed in: a page in place
 * of data, a refusal, or a redirect to another host.
 */
async function isSignedOut(session: string): Promise<boolean> {
  try {
    const response = await fetch(session, { credentials: "same-origin" });
    return response.status === 401 || response.status === 403 || isPage(response);
  } catch {
    return isRedirected(session);
  }
}

/** The page's security policy refuses a redirect to another host, which looks as if nothing had answered. */
async function isRedirected(session: string): Promise<boolean> {
  try {
    const { type } = await fetch(session, { credentials: "same-origin", redirect: "manual" });
    return type === "opaqueredirect";
  } catch {
    return false;
  }
}

/** A success without data, such as the form of a login. */
function isPage(response: Response): boolean {
  return response.ok && !/^application\/json\b/i.test(response.headers.get("content-type") ?? "");
}
