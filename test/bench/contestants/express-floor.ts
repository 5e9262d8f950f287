import { createServer } from "node:http";
import express, { type NextFunction, type Request, type Response } from "express";
import getRawBody from "raw-body";
import { BODY_BYTES, HOOK_PATH } from "../sample-delivery.js";
import type { RunningContestant } from "./contestant.js";

type HookHandler = (body: Buffer, request: Request) => void;

/** An Express app with one route that reads the raw body, lets `handle` look at it and answers 200, or 401 when it throws. */
export function createHookApp(handle: HookHandler): express.Express {
  const app = express();
  app.disable("x-powered-by");
  app.post(HOOK_PATH, (request: Request, response: Response, next: NextFunction) => {
    getRawBody(request, { length: request.headers["content-length"] ?? null, limit: BODY_BYTES * 4 }, (error, body) => {
      if (error) {
        next(error);
        return;
      }
      response.statusCode = acceptBody(handle, body, request) ? 200 : 401;
      response.end();
    });
  });
  return app;
}

function acceptBody(handle: HookHandler, body: Buffer, request: Request): boolean {
  try {
    handle(body, request);
    return true;
  } catch {
    return false;
  }
}

/** Express that does nothing with the body. */
export function startExpressFloor(): RunningContestant {
  return { server: createServer(createHookApp(() => {})) };
}
