import type { IncomingMessage, ServerResponse } from "node:http";
import { isPigeonholeError } from "../../base/error.js";
import { checkInput } from "../../contract/check-input.js";
import { SandboxApiError, inputRefusal } from "../api/api-handlers.js";
import { readUpTo } from "../calls/api-listener.js";
import type { Sandbox } from "./sandbox.js";
import { CONTROL_OPERATIONS, type ControlOperation } from "./operations.js";

/** Prefix of the control API. */
export const CONTROL_PATH = "/sandbox/";

const MAX_BYTES = 1024 * 1024;

/** Serves the control API. It has no key, since only this machine can reach it. Never throws and never rejects. */
export function createControl(sandbox: Sandbox): (req: IncomingMessage, res: ServerResponse) => void {
  return (req, res) => {
    answerControl(sandbox, req, res).catch(() => req.socket.destroy());
  };
}

async function answerControl(sandbox: Sandbox, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { status, body } = await run(sandbox, req).catch(faultBody);
  const text = JSON.stringify(body);
  res.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(text),
    "cache-control": "no-store",
    ...(req.complete ? {} : { connection: "close" }),
  });
  res.end(text);
}

async function run(sandbox: Sandbox, req: IncomingMessage): Promise<{ status: number; body: unknown }> {
  const url = new URL(req.url ?? "/", "http://localhost");
  const operation = findOperation(req.method ?? "", url.pathname);
  const given = req.method === "GET" ? Object.fromEntries(url.searchParams) : await readControlBody(req);
  const checked = checkInput(operation.input, given, { "*": "invalid_parameter" });
  if (!checked.ok) throw inputRefusal(checked.issue);
  return { status: 200, body: await operation.run(sandbox, checked.value) };
}

/** The JSON object of a request, empty if there is no body; throws a SandboxApiError. */
async function readControlBody(req: IncomingMessage): Promise<object> {
  const bytes = await readUpTo(req, MAX_BYTES + 1);
  if (bytes.byteLength > MAX_BYTES) throw refusal(413, "The body has more than 1 MiB.");
  if (bytes.byteLength === 0) return {};
  const body = parseJson(bytes.toString("utf8"));
  if (typeof body === "object" && body !== null && !Array.isArray(body)) return body;
  throw refusal(400, "The body must be a JSON object.");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refusal(400, "The body is not JSON.");
  }
}

function refusal(status: number, message: string): Error {
  return inputRefusal({ code: "invalid_parameter", param: "", message }, status);
}

function findOperation(method: string, path: string): ControlOperation {
  const operation = CONTROL_OPERATIONS[`${method} ${path}`];
  if (operation !== undefined) return operation;
  const message = `There is no ${method} ${path}; there are ${Object.keys(CONTROL_OPERATIONS).join(", ")}.`;
  throw new SandboxApiError({ code: "resource_not_found", message });
}

function faultBody(error: unknown): { status: number; body: unknown } {
  if (error instanceof SandboxApiError) {
    const { status, code, message, param } = error;
    return { status, body: { code, message, ...(param === undefined ? {} : { param }) } };
  }
  if (isPigeonholeError(error)) return { status: 422, body: { code: error.code, message: error.message } };
  return { status: 500, body: { code: "internal_error", message: "The sandbox failed: internal error." } };
}
