import { createDashboard, type DashboardOptions } from "pigeonhole/dashboard";
import type { Receiver } from "pigeonhole";
import { PERSON_HEADER, type PageSession } from "#pigeonhole/web/api/session.js";

export const HOST = "https://ops.example";

/** What a browser sends with the requests of the dashboard's own page. */
export const OWN_PAGE = { "sec-fetch-site": "same-origin", origin: HOST, "content-type": "application/json" };

export interface DashboardAnswer<Body = unknown> {
  status: number;
  headers: Headers;
  text: string;
  body: Body;
}

/** The dashboard of a receiver, asked as its page asks. */
export interface DashboardClient {
  get<Body = unknown>(path: string, headers?: Record<string, string>): Promise<DashboardAnswer<Body>>;
  /** As the person of its own session, unless the headers have another one. */
  post<Body = unknown>(path: string, body?: unknown, headers?: Record<string, string>): Promise<DashboardAnswer<Body>>;
  fetch(request: Request): Promise<Response>;
}

export const OPERATOR = { role: "operate", name: "ann" } as const;

/** Lets everybody in as an operator unless the options say otherwise. */
export function openDashboard(
  receiver: Pick<Receiver, "state">,
  options: DashboardOptions<Request> = {},
): DashboardClient {
  const dashboard = createDashboard<Request>(receiver, { allow: () => OPERATOR, ...options });
  return clientOf(dashboard.fetch);
}

export function clientOf(fetch: (request: Request) => Promise<Response>): DashboardClient {
  const ask = async <Body>(request: Request): Promise<DashboardAnswer<Body>> => {
    const response = await fetch(request);
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: (isJson ? JSON.parse(text) : undefined) as Body,
    };
  };
  const get = <Body>(path: string, headers: Record<string, string> = {}): Promise<DashboardAnswer<Body>> =>
    ask<Body>(new Request(`${HOST}/${path}`, { headers }));
  return {
    get,
    async post(path, body = {}, headers = {}) {
      const session = await get<PageSession>("api/session");
      const person = session.status === 200 ? { [PERSON_HEADER]: encodeURIComponent(session.body.name) } : {};
      const init = { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) };
      return ask(new Request(`${HOST}/${path}`, { ...init, headers: { ...OWN_PAGE, ...person, ...headers } }));
    },
    fetch,
  };
}
