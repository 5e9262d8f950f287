import { PageApiError } from "../../dev/api/page-api-error.js";
import type { PageApiErrorBody } from "../../dev/api/page-api.js";
import { addressOf } from "./address-of.js";

interface JsonRequestOptions {
  /** Who answers, as the beginning of a sentence, such as `The dev server`. */
  server: string;
  /** What the user may look at if nothing answers. */
  ifSilent: string;
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
    if (response.ok) return (await response.json()) as Result;
    throw new PageApiError(response.status, await readErrorBody(response, options));
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
    throw new PageApiError(0, {
      code: "unreachable",
      message: `${options.server} does not answer. ${options.ifSilent}`,
    });
  }
}

async function readErrorBody(response: Response, { server }: JsonRequestOptions): Promise<PageApiErrorBody> {
  const text = await response.text();
  try {
    const body = JSON.parse(text) as Partial<PageApiErrorBody>;
    if (typeof body.message === "string") return { code: "refused", ...body, message: body.message };
  } catch {
    // Not from the API: reported by its status below.
  }
  return { code: "refused", message: `${server} answered ${response.status}.` };
}
