import type { Capture, CaptureAttempt } from "../../capture/model/capture.js";
import type { ReplayBody } from "../../dev/api/page-api.js";
import { bodyAsText } from "./body-bytes.js";

/** The same attempt, with the edited body if it had one and to the same target, under an id that no receiver has. */
export function againUnderNewId({ id }: Pick<Capture, "id">, { sentBody, target }: CaptureAttempt): ReplayBody {
  const edit = sentBody === null ? {} : { body: bodyAsText(sentBody) };
  return { ids: [id], mode: "resign", sameId: false, target, ...edit };
}
