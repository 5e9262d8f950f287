import express, { type NextFunction, type Request, type Response } from "express";
import { BODY_BYTES, HOOK_PATH } from "../sample-delivery.js";

/**
 * Looks at a delivery, or stores it; the delivery is answered 200 when it returns or resolves, and 400 when it throws
 * or rejects.
 */
export type HookHandler = (body: Buffer, request: Request) => void | Promise<void>;

/** An Express app with one route, its body read as the documents of stripe and svix say. */
export function createHookApp(handle: HookHandler): express.Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  const readRaw = express.raw({ type: () => true, limit: BODY_BYTES * 4 });
  app.post(HOOK_PATH, readRaw, (request: Request, response: Response, _next: NextFunction) => {
    const answer = (status: number): void => void response.status(status).end();
    try {
      const stored = handle(request.body as Buffer, request);
      if (stored === undefined) answer(200);
      else
        stored.then(
          () => answer(200),
          () => answer(400),
        );
    } catch {
      answer(400);
    }
  });
  return app;
}
