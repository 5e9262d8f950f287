import type { Capture, CaptureSummary } from "../../capture/model/capture.js";
import { summarizeCapture } from "../../capture/model/summarize-capture.js";
import type { CaptureLog } from "../forward/capture-log.js";
import { PageApiError, badField } from "../../web/page-api-error.js";
import { type BodyFields, requireField } from "../../web/body-fields.js";
import type { CaptureDetail, CapturePage, SignatureReport, RetryLine } from "./page-api.js";
import type { WebRoute } from "../../web/web-route.js";
import type { DevTools } from "./dev-tools.js";
import { listDeliveries, readInboxDelivery } from "./list-deliveries.js";
import { explainCapture } from "./explain-capture.js";
import { readRetryAfter } from "../../base/retry-wait.js";
import { shownAnswer } from "../../capture/model/answer-advice.js";
import { isRetryableStatus, RETRY_SCHEDULE } from "../../protocol/retry-schedule.js";

const MAX_LISTED = 100_000;
const MAX_IDS = 100_000;
const MAX_ID_LENGTH = 100;
const MAX_QUERY_LENGTH = 2_000;
const MAX_SECRET_LENGTH = 1_000;
const MAX_NOTE_LENGTH = 10_000;
const TAGS = { most: 50, longest: 100 };

/** The list of captures, one capture, and its label, note and pin. */
export function captureRoutes({ log, receiver, secrets, assumptions, clock }: DevTools): WebRoute[] {
  return [
    {
      at: "GET /api/captures",
      handle: ({ query }): Promise<CapturePage> =>
        listDeliveries({
          kept: log.folder.list(),
          inbox: receiver.inbox,
          query: readQuery(query.get("query") ?? ""),
          limit: readLimit(query.get("limit")),
          now: clock.now(),
        }),
    },
    {
      at: "GET /api/captures/{id}",
      handle: async ({ id }): Promise<CaptureDetail> => {
        const capture = (await readInboxDelivery(receiver.inbox, id)) ?? log.get(id);
        return {
          capture,
          summary: summarizeCapture(capture),
          signature: explainCapture(capture, { secrets: secrets(), assumptions }),
          retryLine: makeRetryLine(capture, log.folder.list()),
        };
      },
    },
    {
      at: "POST /api/captures/{id}/try-secret",
      handle: ({ id, body }): SignatureReport => {
        const value = requireField("secret", body.text("secret", MAX_SECRET_LENGTH)).trim();
        return explainCapture(log.get(id), {
          secrets: [{ ref: "the secret that was typed", value }],
          assumptions,
        });
      },
    },
    {
      at: "POST /api/captures/{id}/mark",
      handle: ({ id, body }) => markCapture(log, id, body),
    },
    {
      at: "POST /api/captures/remove",
      handle: async ({ body }) => ({ removed: await log.remove(readIds(body)) }),
    },
  ];
}

function readQuery(text: string): string {
  if (text.length > MAX_QUERY_LENGTH) throw badField("query", `must have at most ${MAX_QUERY_LENGTH} characters.`);
  return text;
}

async function markCapture(log: CaptureLog, id: string, body: BodyFields): Promise<CaptureSummary> {
  log.get(id);
  const mark = {
    ...optional("tags", body.texts("tags", TAGS)),
    ...optional("pinned", body.flag("pinned")),
    ...optional("note", body.text("note", MAX_NOTE_LENGTH)),
  };
  const changed = await log.change(id, (capture) => ({ ...capture, ...mark }));
  if (changed !== undefined) return summarizeCapture(changed);
  log.get(id);
  throw new PageApiError(503, { code: "not_written", message: "It could not be written to disk, so nothing changed." });
}

/** The list `ids` of a body. */
export function readIds(body: BodyFields, longest = MAX_ID_LENGTH): string[] {
  return requireField("ids", body.texts("ids", { most: MAX_IDS, longest }));
}

/** An object with one field to spread, empty if the value is undefined. */
export function optional<Name extends string, Value>(name: Name, value: Value | undefined): { [N in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { [N in Name]?: Value };
}

function readLimit(text: string | null): number {
  if (text === null) return MAX_LISTED;
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= MAX_LISTED) return limit;
  throw badField("limit", `must be a whole number from 1 to ${MAX_LISTED}.`);
}

/** The deliveries of the capture's event, and when the service would send it again. `captures` are newest first. */
function makeRetryLine(capture: Capture, captures: readonly Capture[]): RetryLine {
  const { id } = capture.event;
  const isOfEvent = (one: Capture): boolean =>
    one.event.id === id && one.request.sha256 === capture.request.sha256 && originOf(one) === originOf(capture);
  const deliveries = id === null ? [capture] : captures.filter(isOfEvent).toReversed();
  const past = deliveries.map((delivery) => {
    const forward = forwardOf(delivery);
    const answer = shownAnswer(forward ?? { status: null, headers: [] });
    return { captureId: delivery.id, at: delivery.receivedAt, ...answer, error: forward?.error ?? null };
  });
  const ofService = deliveries.filter(isOfService);
  const last = ofService.at(-1);
  if (last !== undefined) return { past, coming: comingAfter(last, ofService.length), notComing: 0 };
  return { past, coming: [], notComing: comingAfter(deliveries.at(-1) ?? capture, deliveries.length).length };
}

/**
 * What strangers post under the id of an event, unsigned or long after it was signed, is no attempt of the service;
 * what does not match may be one of before a secret was rotated, with the same bytes.
 */
function originOf({ verify: { code } }: Capture): string {
  return code === "missing" || code === "stale" ? code : "signed";
}

/** Whether its sender makes further attempts; what was sent by hand, or imported, has none. */
function isOfService({ source }: Capture): boolean {
  return source === "live" || source === "sandbox";
}

/** The attempt whose answer the sender got; a replay is none. */
function forwardOf({ attempts }: Capture) {
  return attempts.find(({ kind }) => kind === "forward");
}

/** The times of further attempts, without the random part of each wait; none if the sender was satisfied. */
function comingAfter(last: Capture, count: number): string[] {
  const forward = forwardOf(last);
  if (forward === undefined || !isRetryableStatus(forward.status)) return [];
  const answeredAt = Date.parse(forward.at) + forward.ms;
  const retryAfter = forward.headers.find(([name]) => name.toLowerCase() === "retry-after")?.[1] ?? null;
  const stretchedMs = Math.min(readRetryAfter(retryAfter, answeredAt) ?? 0, RETRY_SCHEDULE.maxRetryAfterMs);
  const waits = RETRY_SCHEDULE.waitsMs
    .slice(count - 1)
    .map((waitMs, index) => (index === 0 ? Math.max(waitMs, stretchedMs) : waitMs));
  let at = answeredAt;
  return waits.map((waitMs) => new Date((at += waitMs)).toISOString());
}
