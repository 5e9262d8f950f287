import type { ApiFailure } from "../../dev/api/page-api.js";

/** A refusal of the dev server, or that it cannot be reached (`code` is then `unreachable`). */
export class ApiProblem extends Error {
  override readonly name = "ApiProblem";
  readonly status: number;
  readonly code: string;
  readonly param: string | null;

  constructor(status: number, failure: ApiFailure) {
    super(failure.message);
    this.status = status;
    this.code = failure.code;
    this.param = failure.param ?? null;
  }
}

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
  throw new ApiProblem(response.status, await readFailure(response));
}

async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, { ...init, credentials: "same-origin" });
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    throw new ApiProblem(0, { code: "unreachable", message: "The dev server does not answer. Is it still running?" });
  }
}

async function readFailure(response: Response): Promise<ApiFailure> {
  const text = await response.text();
  try {
    const failure = JSON.parse(text) as Partial<ApiFailure>;
    if (typeof failure.message === "string") return { code: "refused", ...failure, message: failure.message };
  } catch {
    // Not from the API: reported by its status below.
  }
  return { code: "refused", message: `The dev server answered ${response.status}.` };
}
