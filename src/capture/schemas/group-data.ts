import { isTestDelivery } from "../../protocol/test-delivery.js";
import { bodyData } from "../model/captured-body.js";
import type { Capture } from "../model/capture.js";

/** `data` of the captures by event type, sorted by type; without test deliveries, to which no schema applies. */
export function groupData(captures: readonly Capture[]): Map<string, object[]> {
  const groups = new Map<string, object[]>();
  for (const capture of captures) {
    const data = bodyData(capture.request.body);
    const { type } = capture.event;
    if (data === undefined || type === null || isTestDelivery(type, data)) continue;
    const samples = groups.get(type);
    if (samples === undefined) groups.set(type, [data]);
    else samples.push(data);
  }
  return new Map([...groups].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
