import { DAY } from "../base/duration.js";
import { escapeControls } from "../base/text.js";
import { stepAt } from "../store/figure-rows.js";
import { LONG_STEPS } from "../store/figures.js";
import { WORK_FILTERS } from "../store/filters.js";
import { lookForHandler } from "../store/find-in-inbox.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import type { StoreCounts } from "../store/inbox-view.js";
import { MAX_HANDLER_NAME_LENGTH, type StoredHandler } from "../store/paused-handlers.js";
import type { HandlerReport, PausedHandlerRow, PauseReport } from "./api/handlers.js";
import { requireField } from "./body-fields.js";
import type { InboxTools } from "./inbox-tools.js";
import { badField } from "./page-api-error.js";
import { filtersIn } from "./page-of-query.js";
import type { SharedReadings } from "./shared-readings.js";
import type { WebCall, WebRoute } from "./web-route.js";

/** Handlers, and their pauses. */
export function handlerRoutes({ operator, readings, handlers, log, now }: InboxTools): WebRoute[] {
  const report = (since = now() - DAY): Promise<HandlerReport> =>
    reportHandlers(readings, handlers(), stepAt(since, LONG_STEPS.stepMs));
  const nameIn = ({ body }: WebCall): string => {
    return requireField("handler", body.text("handler", MAX_HANDLER_NAME_LENGTH) || undefined);
  };
  return [
    {
      at: "GET /api/handlers",
      handle: ({ query }) => report(filtersIn(query, { since: WORK_FILTERS.since }).since),
    },
    {
      at: "POST /api/handlers/pause",
      async handle(call): Promise<PauseReport> {
        const handler = nameIn(call);
        const isHere = handlers().includes(handler);
        if (!isHere) await refuseControls(operator(), handler);
        log.note(call.person, "pause", { handler });
        await operator().pauseHandler(handler, call.person.name);
        readings.forgetAll();
        const { isKnown, all } = await lookForHandler(operator(), handler);
        return { ...(await report()), ...(isHere || isKnown ? { isKnown: true } : { isKnown, knownHandlers: all }) };
      },
    },
    {
      at: "POST /api/handlers/resume",
      async handle(call): Promise<HandlerReport> {
        const handler = nameIn(call);
        log.note(call.person, "resume", { handler });
        await operator().resumeHandler(handler);
        readings.forgetAll();
        return report();
      },
    },
  ];
}

/** A developer may name a handler so; nobody misspells one like that. */
async function refuseControls(
  inbox: Pick<InboxOperator, "listEvents" | "listHandlers">,
  handler: string,
): Promise<void> {
  if (escapeControls(handler) === handler || (await lookForHandler(inbox, handler)).isKnown) return;
  throw badField("handler", "has control characters, and no receiver of this store has a handler of that name.");
}

async function reportHandlers(
  readings: SharedReadings,
  registered: readonly string[],
  since: number,
): Promise<HandlerReport> {
  const [{ events }, times, known, errors] = await Promise.all([
    readings.overview(),
    readings.handlerTimes({ since }),
    readings.listHandlers(),
    readings.listErrorGroups(),
  ]);
  const inUse = known.filter(({ hasFailed, paused }) => hasFailed || paused !== null).map(({ handler }) => handler);
  const ran = times.map(({ handler }) => handler);
  const others = [...Object.keys(events.pendingByHandler), ...inUse, ...ran];
  const names = new Set([...registered, ...others.filter((name) => name !== "").toSorted()]);
  const rows = [...names].map((handler) => {
    const stored = known.find((each) => each.handler === handler);
    const taken = times.find((each) => each.handler === handler);
    const last = errors.items.find((each) => each.handler === handler);
    return {
      handler,
      paused: (stored && pausedRow(stored, events)) ?? null,
      pending: pendingOf(events, handler),
      times: taken ?? null,
      isFailing: taken !== undefined && taken.failed >= taken.runs / 2,
      lastError: last === undefined ? null : { kind: escapeControls(last.kind), at: last.lastAt },
    };
  });
  return { handlers: rows };
}

/** A pause as the page shows it; undefined for a handler that runs as usual. */
export function pausedRow({ handler, paused }: StoredHandler, counts: StoreCounts): PausedHandlerRow | undefined {
  return paused === null ? undefined : { handler, ...paused, pending: pendingOf(counts, handler) };
}

function pendingOf({ pendingByHandler }: StoreCounts, handler: string): number {
  return Object.hasOwn(pendingByHandler, handler) ? (pendingByHandler[handler] ?? 0) : 0;
}
