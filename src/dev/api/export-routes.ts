import type { Changes } from "../../base/options.js";
import { withOutcomes } from "../../capture/model/answer.js";
import type { Capture } from "../../capture/model/capture.js";
import { captureRequest } from "../../capture/model/capture-request.js";
import { buildReplayHeaders } from "../../capture/replay/build-replay.js";
import { createRedactor } from "../../capture/redact/redactor.js";
import { SHARED_PROFILE } from "../../capture/redact/redaction-profiles.js";
import { exportCaptures } from "../../capture/export/export-captures.js";
import { EXPORT_FORMATS, type ExportFormat } from "../../capture/export/export-formats.js";
import type { NamedSecret } from "../../capture/model/judge-signature.js";
import type { SignatureAssumptions } from "../../protocol/signature-assumptions.js";
import type { CaptureLog } from "../forward/capture-log.js";
import type { ForwardRule } from "../forward/forward-rules.js";
import { requireField } from "../../web/body-fields.js";
import { mustGet, readIds } from "./capture-routes.js";
import type { WebRoute } from "../../web/find-route.js";

export interface ExportRouteDeps {
  log: CaptureLog;
  secrets: () => readonly NamedSecret[];
  assumptions: Changes<SignatureAssumptions>;
  rules: readonly ForwardRule[];
  /** Where a command posts to if no forward matches the capture. */
  captureUrl: string;
  /** Largest body of a fixture. */
  maxBodyBytes: number;
  now: () => number;
}

/** Exports captures as text. Commands are signed; they never contain the secret. */
export function exportRoutes(deps: ExportRouteDeps): WebRoute[] {
  const { log, maxBodyBytes } = deps;
  return [
    {
      method: "POST",
      path: "/api/captures/{id}/curl",
      handle: ({ id, body }): { command: string } => {
        const mode = requireField("mode", body.choice("mode", ["exact", "resign"]));
        return { command: write(deps, [mustGet(log, id)], "curl", mode).text };
      },
    },
    {
      method: "POST",
      path: "/api/captures/export",
      handle: ({ body }) => {
        const as = requireField("as", body.choice("as", EXPORT_FORMATS));
        const captures = readIds(body).map((id) => mustGet(log, id));
        if (body.flag("redacted") !== true) return write(deps, captures, as);
        // One redactor for all: the same address has the same stand-in in the whole file.
        const file = write(deps, captures.map(createRedactor({ profile: SHARED_PROFILE })), as);
        return { ...file, name: file.name.replace(/^captures/, "captures-redacted") };
      },
    },
    {
      method: "POST",
      path: "/api/captures/{id}/fixture",
      handle: ({ id, body }) => {
        const capture = mustGet(log, id);
        const edited = withBody(deps, capture, Buffer.from(requireField("body", body.text("body", maxBodyBytes))));
        const name = (edited.event.type ?? "capture").replaceAll(/[^\w.-]/g, "_");
        // One capture, as each file of a folder of captures has it.
        const text = `${JSON.stringify(withOutcomes(edited), undefined, 2)}\n`;
        return { name: `${name}.json`, mediaType: "application/json", text };
      },
    },
  ];
}

function write(
  { secrets, rules, captureUrl, assumptions, now }: ExportRouteDeps,
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
    nowMs: now(),
    assumptions,
    mode,
    secret: newest?.value,
  });
}

/** The capture as if it had arrived with this body just now. */
function withBody({ secrets, assumptions, now }: ExportRouteDeps, capture: Capture, bytes: Uint8Array): Capture {
  const known = secrets();
  const [newest] = known;
  const { method, path, query } = capture.request;
  const content = { mode: "resign" as const, nowMs: now(), assumptions };
  const headers =
    newest === undefined
      ? capture.request.headers
      : buildReplayHeaders(capture, bytes, { ...content, secret: newest.value });
  const request = { method, path, query, headers, body: bytes };
  return captureRequest({ request, source: capture.source, receivedAt: now(), secrets: known, assumptions });
}
