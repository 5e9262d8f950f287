import type { IncomingMessage } from "node:http";
import type { NodeMiddleware } from "../http/node-mount.js";
import { readFields } from "../web/read-fields.js";
import type { WebAnswer } from "../web/web-answer.js";
import { writeAnswer } from "../web/write-answer.js";
import { type DashboardRequest, MAX_ACTION_BYTES } from "./dashboard-request.js";
import { elsewhere, splitMount } from "./split-mount.js";

/** What Express and Connect add. */
interface MountedRequest extends IncomingMessage {
  originalUrl?: unknown;
  body?: unknown;
}

/** For Express 5 and 4, Connect and plain node:http. */
export function createNodeDashboard(
  answer: (request: DashboardRequest) => Promise<WebAnswer>,
  path: string | undefined,
): NodeMiddleware {
  return function pigeonholeDashboard(req, res, next) {
    const request = readRequest(req, path);
    if (request === undefined && next !== undefined) return next();
    (request === undefined ? Promise.resolve(elsewhere()) : answer(request))
      .then((found) => writeAnswer(req, res, found))
      .catch(() => res.destroy());
  };
}

/** Undefined for a request beside the mount. */
function readRequest(req: MountedRequest, mount: string | undefined): DashboardRequest | undefined {
  const url = req.url ?? "/";
  const original = typeof req.originalUrl === "string" ? req.originalUrl : url;
  const place = splitMount({ url, original, mount });
  if (place === undefined) return undefined;
  return {
    ...place,
    method: req.method ?? "",
    original: req,
    header(name) {
      // HTTP/2 has it under a name of its own.
      const value = req.headers[name] ?? (name === "host" ? req.headers[":authority"] : undefined);
      return Array.isArray(value) ? value.join(", ") : value;
    },
    readBody: () => readFields(req, MAX_ACTION_BYTES),
  };
}
