import { createServer } from "node:http";
import type { RunningContestant } from "./contestant.js";
import { readBody } from "./read-body.js";

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
