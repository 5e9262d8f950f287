import { PageApiError } from "../../web/page-api-error.js";
import type { PageApiErrorBody } from "../../web/page-api-error.js";
import { addressOf } from "./address-of.js";

interface JsonRequestOptions {
  /** Who answers, as the beginning of a sentence, such as `The dev server`. */
  server: string;
  /** What the user may look at if nothing answers. */
  ifSilent: string;
  /** Path that answers everybody who is signed in. */
  session: string;
  /** Sent with every POST beside its media type. */
  postHeaders: () => Record<string, string>;
}

/** Requests of a page to its server; an answer that is no success is thrown as a {@link PageApiError}. */
export interface JsonRequests {
  readJson: <Result>(path: string, signal?: AbortSignal) => Promise<Result>;
  postJson: <Result>(path: string, body: object) => Promise<Result>;
}

export function createJsonRequests(options: JsonRequestOptions): JsonRequests {
  const exchange = async <Result>(path: string, init: RequestInit): Promise<Result> => {
    const response = await reach(path, init, options);
    if (response.ok && !isPage(response)) return (await response.json()) as Result;
    const body = await readErrorBody(response, options);
    if (isForeign(response, body) && (await isSignedOut(addressOf(options.session)))) throw signedOut();
    throw new PageApiError(response.status, body);
  };
  return {
    readJson: (path, signal) => exchange(path, signal === undefined ? {} : { signal }),
    postJson: (path, body) =>
      exchange(path, {
        method: "POST",
        headers: { "content-type": "application/json", ...options.postHeaders() },
        body: JSON.stringify(body),
      }),
  };
}

async function reach(path: string, init: RequestInit, options: JsonRequestOptions): Promise<Response> {
  try {
    return await fetch(addressOf(path), { ...init, credentials: "same-origin" });
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    if (await isRedirected(addressOf(options.session))) throw signedOut();
    throw new PageApiError(0, {
      code: "unreachable",
      message: `${options.server} does not answer. ${options.ifSilent}`,
    });
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

async function readErrorBody(response: Response, { server }: JsonRequestOptions): Promise<PageApiErrorBody> {
  if (response.ok) return { code: REFUSED, message: `${server} answered with a page in place of data.` };
  const text = await response.text();
  try {
    const body = JSON.parse(text) as Partial<PageApiErrorBody>;
    if (typeof body.message === "string") return { code: REFUSED, ...body, message: body.message };
  } catch {
    // Not from the API: reported by its status below.
  }
  return { code: REFUSED, message: `${server} answered ${response.status}.` };
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
