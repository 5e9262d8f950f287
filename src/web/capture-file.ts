import { withOutcomes } from "../capture/model/answer.js";
import type { Capture } from "../capture/model/capture.js";
import type { FileText } from "./api/event.js";

/** One capture, as each file of a folder of captures has it. `form` is said in its name. */
export function captureFile(capture: Capture, form?: "fixture" | "redacted"): FileText {
  const type = (capture.event.type ?? "capture").replaceAll(/[^\w.-]/g, "_").slice(0, 100);
  const name = [type, ...(form === undefined ? [] : [form]), "json"].join(".");
  return { name, mediaType: "application/json", text: `${JSON.stringify(withOutcomes(capture), undefined, 2)}\n` };
}
