import { PageApiError } from "../../dev/api/page-api-error.js";
import type { PageApiErrorBody } from "../../dev/api/page-api.js";

export function readJson<Result>(path: string, signal?: AbortSignal): Promise<Result> {
  return exchange<Result>(path, signal === undefined ? {} : { signal });
}

export function postJson<Result>(path: string, body: object): Promise<Result> {
  return exchange<Result>(path, {
    method: "POST",
    // With this header, pages of other origins need a CORS preflight, which fails.
    headers: { "content-type": "application/json", "x-pigeonhole": "1" },
    body: JSON.stringify(body),
  });
}

async function exchange<Result>(path: string, init: RequestInit): Promise<Result> {
  const response = await reach(path, init);
  if (response.ok) return (await response.json()) as Result;
  throw new PageApiError(response.status, await readErrorBody(response));
}

async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, { ...init, credentials: "same-origin" });
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    throw new PageApiError(0, { code: "unreachable", message: "The dev server does not answer. Is it still running?" });
  }
}

async function readErrorBody(response: Response): Promise<PageApiErrorBody> {
  const text = await response.text();
  try {
    const body = JSON.parse(text) as Partial<PageApiErrorBody>;
    if (typeof body.message === "string") return { code: "refused", ...body, message: body.message };
  } catch {
    // Not from the API: reported by its status below.
  }
  return { code: "refused", message: `The dev server answered ${response.status}.` };
}
