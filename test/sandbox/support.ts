import { type IncomingHttpHeaders, type ServerResponse, createServer } from "node:http";
import { type Sandbox, type SandboxOptions, createSandbox } from "pigeonhole/sandbox";
import { verifySignature } from "pigeonhole/protocol";
import { onTestFinished } from "vitest";
import { listen } from "../support/listen.js";
import type { ManualClock } from "#pigeonhole/base/manual-clock.js";
import { createManualClock } from "#pigeonhole/base/manual-clock.js";

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const START = Date.UTC(2026, 0, 1);

/** A sandbox that is closed when the test ends; on a manual clock and with one seed unless told otherwise. */
export function openSandbox(options: SandboxOptions = {}): Sandbox {
  const sandbox = createSandbox({ clock: "manual", seed: "test", ...options });
  onTestFinished(() => sandbox.close());
  return sandbox;
}

/** A sandbox with its manual clock at hand. */
export function openOnClock(options: SandboxOptions = {}): { sandbox: Sandbox; clock: ManualClock } {
  const clock = createManualClock(START);
  return { clock, sandbox: openSandbox({ clock, ...options }) };
}

/** A sandbox whose one endpoint is answered by `answers.status`, without sockets. */
export function openEndpoint({ status = 200, ...options }: SandboxOptions & { status?: number } = {}) {
  const answers = { status, posts: 0 };
  const receive = () => {
    answers.posts += 1;
    return new Response(null, { status: answers.status });
  };
  const opened = openOnClock({ receive, ...options });
  const { id, secret } = opened.sandbox.endpoints.create({ url: "http://127.0.0.1/hook" });
  return { ...opened, answers, id, secret, endpoint: () => opened.sandbox.endpoints.get(id) };
}

/** A sandbox whose one endpoint is a probe. */
export async function openProbed(answer?: Parameters<typeof openProbe>[0], options?: SandboxOptions) {
  const opened = openOnClock(options);
  const probe = await openProbe(answer);
  const { id, secret } = opened.sandbox.endpoints.create({ url: probe.url });
  return { ...opened, probe, id, secret };
}

/** Fires an event, and lets what is due now be answered. */
export async function fire(sandbox: Sandbox, type = "email.sent"): Promise<ReturnType<Sandbox["emit"]>> {
  const emitted = sandbox.emit(type);
  await sandbox.settle();
  return emitted;
}

/** A POST that a probe got. */
export interface Got {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  event: { id: string; type: string; createdAt: string; data: Record<string, unknown> };
}

/** What a probe answers: a status, a status with headers, or nothing at all. */
export type ProbeAnswer = number | { status: number; headers: Record<string, string> } | "nothing" | "break";

export interface Probe {
  url: string;
  got: Got[];
}

/** A real receiver on a free port that answers as it is told and writes down what it got. */
export async function openProbe(answer: (got: Got, index: number) => ProbeAnswer = () => 200): Promise<Probe> {
  const got: Got[] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      const one = { path: req.url ?? "", headers: req.headers, body, event: JSON.parse(body) as Got["event"] };
      got.push(one);
      give(answer(one, got.length - 1), res);
    });
  });
  const port = await listen(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${port}/hook`, got };
}

function give(answer: ProbeAnswer, res: ServerResponse): void {
  if (answer === "nothing") return;
  if (answer === "break") {
    res.destroy();
    return;
  }
  const { status, headers } = typeof answer === "number" ? { status: answer, headers: {} } : answer;
  res.writeHead(status, headers).end("answer");
}

/** A receiver without a socket that answers 200 and writes down what it got. */
export function collectEvents() {
  const received: Got["event"][] = [];
  const receive = async (request: Request): Promise<Response> => {
    received.push((await request.json()) as Got["event"]);
    return new Response();
  };
  return { receive, received };
}

/** What the signature of a POST, which must have come, is worth at a time. */
export function verdictOf(got: Got | undefined, secret: string, nowMs: number) {
  if (got === undefined) throw new Error("A POST was expected.");
  return verifySignature({ body: got.body, headers: got.headers, secrets: secret, nowMs });
}
