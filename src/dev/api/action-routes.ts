import { randomUUID } from "node:crypto";
import { summarizeCapture } from "../../capture/model/summarize-capture.js";
import { isEventType } from "../../protocol/event-types.js";
import { sampleEvent } from "../../sandbox/samples/sample-event.js";
import type { DevTools } from "./dev-tools.js";
import { PageApiError } from "../../web/page-api-error.js";
import { requireField } from "../../web/body-fields.js";
import { optional, readIds } from "./capture-routes.js";
import { type PageReplayReport, type SendReport, SIGNATURE_VARIANTS } from "./page-api.js";
import type { WebRoute } from "../../web/web-route.js";

/** How often one request may send a capture or event. A larger number is a typing error. */
const MAX_TIMES = 1_000;
const MAX_TARGET_LENGTH = 2_000;

/** Routes that replay captures and send sample events. */
export function actionRoutes({ log, replay, sendSample, maxBodyBytes, clock }: DevTools): WebRoute[] {
  return [
    {
      at: "POST /api/replay",
      handle: async ({ body }): Promise<PageReplayReport> => {
        const sameId = body.flag("sameId");
        const { attempts } = await replay({
          ids: readIds(body),
          ...optional(
            "identity",
            sameId === undefined ? undefined : sameId ? ("same-id" as const) : ("new-id" as const),
          ),
          ...optional("mode", body.choice("mode", ["resign", "exact"])),
          ...optional("body", body.text("body", maxBodyBytes)),
          ...optional("target", body.text("target", MAX_TARGET_LENGTH)),
          ...optional("times", body.count("times", MAX_TIMES)),
        });
        return {
          attempts: attempts.map(({ capture, attempt, comparison }) => ({
            captureId: capture.id,
            attempt,
            changed: comparison === null ? null : !comparison.same,
          })),
        };
      },
    },
    {
      at: "GET /api/samples/{id}",
      handle: ({ id: type }): { body: string } => {
        if (!isEventType(type))
          throw new PageApiError(404, { code: "no_sample", message: `There is no type "${type}".` });
        // A new seed each time: the app would treat a known id as a duplicate.
        const event = sampleEvent(type, {}, { seed: randomUUID(), createdAt: new Date(clock.now()) });
        return { body: JSON.stringify(event, undefined, 2) };
      },
    },
    {
      at: "POST /api/send",
      handle: async ({ body }): Promise<SendReport> => {
        const ids = await sendSample({
          body: requireField("body", body.text("body", maxBodyBytes)),
          variant: requireField("sign", body.choice("sign", SIGNATURE_VARIANTS)),
          ...optional("times", body.count("times", MAX_TIMES)),
        });
        // One that was removed since, for the number of captures, has no summary.
        return { captures: ids.flatMap((id) => log.folder.get(id) ?? []).map(summarizeCapture) };
      },
    },
  ];
}
