import type { Capture } from "../../capture/model/capture.js";
import { captureRequest } from "../../capture/model/capture-request.js";
import { buildReplayHeaders } from "../../capture/replay/build-replay.js";
import { createRedactor } from "../../capture/redact/redactor.js";
import { SHARED_PROFILE } from "../../capture/redact/redaction-profiles.js";
import { exportCaptures } from "../../capture/export/export-captures.js";
import { EXPORT_FORMATS, type ExportFormat } from "../../capture/export/export-formats.js";
import { requireField } from "../../web/body-fields.js";
import { captureFile } from "../../web/capture-file.js";
import type { DevTools } from "./dev-tools.js";
import { readIds } from "./capture-routes.js";
import type { WebRoute } from "../../web/web-route.js";

/** Exports captures as text. Commands are signed; they never contain the secret. */
export function exportRoutes(deps: DevTools): WebRoute[] {
  const { log, maxBodyBytes } = deps;
  return [
    {
      at: "POST /api/captures/{id}/curl",
      handle: ({ id, body }): { command: string } => {
        const mode = requireField("mode", body.choice("mode", ["exact", "resign"]));
        return { command: write(deps, [log.get(id)], "curl", mode).text };
      },
    },
    {
      at: "POST /api/captures/export",
      handle: ({ body }) => {
        const as = requireField("as", body.choice("as", EXPORT_FORMATS));
        const captures = readIds(body).map(log.get);
        if (body.flag("redacted") !== true) return write(deps, captures, as);
        // One redactor for all: the same address has the same stand-in in the whole file.
        const file = write(deps, captures.map(createRedactor({ profile: SHARED_PROFILE })), as);
        return { ...file, name: file.name.replace(/^captures/, "captures-redacted") };
      },
    },
    {
      at: "POST /api/captures/{id}/fixture",
      handle: ({ id, body }) => {
        const capture = log.get(id);
        const edited = withBody(deps, capture, Buffer.from(requireField("body", body.text("body", maxBodyBytes))));
        return captureFile(edited);
      },
    },
  ];
}

function write(
  { secrets, rules, captureUrl, assumptions, clock }: DevTools,
  captures: readonly Capture[],
  as: ExportFormat,
  mode?: "exact" | "resign",
) {
  const [newest] = secrets();
  const [first] = captures;
  const rule = rules.find(({ matches }) => matches(first?.event.type ?? null));
  return exportCaptures(captures, {
    as,
    target: rule?.target ?? captureUrl,
    nowMs: clock.now(),
    assumptions,
    mode,
    secret: newest?.value,
  });
}

/** The capture as if it had arrived with this body just now. */
function withBody({ secrets, assumptions, clock }: DevTools, capture: Capture, bytes: Uint8Array): Capture {
  const known = secrets();
  const [newest] = known;
  const { method, path, query } = capture.request;
  const content = { mode: "resign" as const, nowMs: clock.now(), assumptions };
  const headers =
    newest === undefined
      ? capture.request.headers
      : buildReplayHeaders(capture, bytes, { ...content, secret: newest.value });
  const request = { method, path, query, headers, body: bytes };
  return captureRequest({ request, source: capture.source, receivedAt: clock.now(), secrets: known, assumptions });
}
