import type { Clock } from "../base/clock.js";
import type { Logger } from "../base/logger.js";
import { quoteForShell } from "../base/text.js";
import type { EventDetail } from "../store/inbox-view.js";
import type { Store } from "../store/store.js";
import { NOTE_HANDLER } from "../base/note-handler.js";
import { routeStored } from "./read-again.js";
import type { HandlerRegistry } from "./registry.js";

const PAGE = 100;
/** Without the option, so many parked events are read at most: one line is not worth more. */
const MAX_READ = 10_000;

export interface ParkedAtStartDeps {
  store: Store<unknown>;
  registry: HandlerRegistry;
  clock: Clock;
  logger: Logger;
}

/** What happens at start to parked events that match a handler now: a retry, one line that counts them, or nothing. */
export type ParkedAtStart = "retry" | "report" | "leave";

/**
 * Looks, when this process begins to run the handlers, for events that were not understood and match a handler now.
 * Requests their retry, or says how many there are and the command.
 */
export async function readParkedAtStart(
  { store, registry, clock, logger }: ParkedAtStartDeps,
  parkedAtStart: ParkedAtStart,
  signal: AbortSignal,
): Promise<void> {
  const retries = parkedAtStart === "retry";
  let events = 0;
  let read = 0;
  for (let afterSeq = 0, isLeft = true; isLeft;) {
    const parked = await store.listStuck({ state: "parked", limit: PAGE, afterSeq });
    for (const { id, seq } of parked) {
      if (signal.aborted) return;
      afterSeq = seq;
      read += 1;
      const event = await store.get(id);
      if (event === undefined || !matchesHandler(registry, event)) continue;
      if (retries) await store.requestRetry(seq, clock.now());
      events += 1;
    }
    isLeft = parked.length === PAGE && (retries || read < MAX_READ);
  }
  if (events > 0 && !retries) {
    logger.warn({ events, ...commandFor(store) }, "parked_events_match_a_handler_now");
  }
}

/**
 * The path is named, since the command may look for another one. The URL of a server is not, since it may have a
 * password: the command finds it in DATABASE_URL.
 */
function commandFor({ file }: Store<unknown>): { command: string } {
  const command = "npx pigeonhole inbox retry --parked";
  return { command: file === undefined ? command : `${command} --db ${quoteForShell(file)}` };
}

/** Work in which processes died is left to the operator: it could end each process that starts. */
function matchesHandler(registry: HandlerRegistry, { body, handlers }: EventDetail): boolean {
  const waits = handlers.some(({ handler, state }) => handler === NOTE_HANDLER && state === "parked");
  if (body === undefined || !waits || handlers.some(({ reason }) => reason === "crash_loop")) return false;
  const route = routeStored(registry, body);
  return route.parked === undefined && route.handlers.length > 0;
}
