import type { Changes } from "../../base/options.js";
import type { Capture } from "../../capture/model/capture.js";
import { exportCaptures } from "../../capture/export/export-captures.js";
import { EXPORT_FORMATS, type ExportFormat } from "../../capture/export/export-formats.js";
import type { NamedSecret } from "../../capture/model/judge-signature.js";
import type { SignatureAssumptions } from "../../protocol/assumptions.js";
import type { CaptureLog } from "../forward/capture-log.js";
import type { ForwardRule } from "../forward/forward-rules.js";
import { requireField } from "./body-fields.js";
import { mustGet, readIds } from "./capture-routes.js";
import type { PageApiRoute } from "./page-api-route.js";

export interface ExportRouteDeps {
  log: CaptureLog;
  secrets: () => readonly NamedSecret[];
  assumptions: Changes<SignatureAssumptions>;
  rules: readonly ForwardRule[];
  /** Where a command posts to if no forward matches the capture. */
  captureUrl: string;
  now: () => number;
}

/** Exports captures as text. Commands are signed; they never contain the secret. */
export function exportRoutes({ log, secrets, assumptions, rules, captureUrl, now }: ExportRouteDeps): PageApiRoute[] {
  function write(captures: readonly Capture[], as: ExportFormat, mode?: "exact" | "resign") {
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

  return [
    {
      method: "POST",
      path: "/api/captures/{id}/curl",
      handle: ({ id, body }): { command: string } => {
        const mode = requireField("mode", body.choice("mode", ["exact", "resign"]));
        return { command: write([mustGet(log, id)], "curl", mode).text };
      },
    },
    {
      method: "POST",
      path: "/api/captures/export",
      handle: ({ body }) => {
        const as = requireField("as", body.choice("as", EXPORT_FORMATS));
        return write(
          readIds(body).map((id) => mustGet(log, id)),
          as,
        );
      },
    },
  ];
}
