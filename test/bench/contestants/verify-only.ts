import { createServer } from "node:http";
import { verifySignature } from "pigeonhole/protocol";
import { SECRET } from "../sample-delivery.js";
import type { RunningContestant } from "./contestant.js";
import { createHookApp } from "./express-floor.js";
import { readBody } from "./read-body.js";

const secrets = [SECRET];

/** Our verification on an Express route, nothing stored. */
export function startExpressVerify(): RunningContestant {
  const app = createHookApp((body, request) => {
    const verified = verifySignature({ body, headers: request.headers, secrets });
    if (!verified.ok) throw new Error("not verified");
  });
  return { server: createServer(app) };
}

/** What a receiver in front of Express has to do at the least: our verification and JSON.parse, nothing stored. */
export function startHttpVerifyAndParse(): RunningContestant {
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
