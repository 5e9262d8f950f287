import { createServer } from "node:http";
import { verifySignature } from "pigeonhole/protocol";
import { SECRET } from "../sample-delivery.js";
import type { RunningContestant } from "./contestant.js";
import { createHookApp } from "./express-hook.js";
import { readBody } from "./read-body.js";

const secrets = [SECRET];

/** Reads the body and answers; the most that node:http can do here. */
export function startBareHttp(): RunningContestant {
  const server = createServer((request, response) => {
    readBody(request, () => {
      response.statusCode = 200;
      response.end();
    });
  });
  return { server };
}

/** Express that does nothing with the body. */
export function startBareExpress(): RunningContestant {
  return { server: createServer(createHookApp(() => {})) };
}

/** Our verification and JSON.parse on node:http, nothing stored. */
export function startNoStore(): RunningContestant {
  const server = createServer((request, response) => {
    readBody(request, (body) => {
      const { ok } = verifySignature({ body, headers: request.headers, secrets });
      if (ok) JSON.parse(body.toString());
      response.statusCode = ok ? 200 : 401;
      response.end();
    });
  });
  return { server };
}
