import { createServer } from "node:http";
import type { RunningContestant } from "./contestant.js";
import { createHookApp } from "./express-hook.js";

/** Express that does nothing with the body. */
export function startBareExpress(): RunningContestant {
  return { server: createServer(createHookApp(() => {})) };
}
