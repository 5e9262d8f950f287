import { captureRequest } from "../../capture/model/capture-request.js";
import type { EventType } from "../../protocol/event-types.js";
import { sampleEvent } from "../../sandbox/samples/sample-event.js";

/** A capture of a sample event as a file: the same in every run, and not signed, since each use signs it. */
export function makeFixture(type: EventType): string {
  const event = sampleEvent(type, {}, { seed: "fixture" });
  const capture = captureRequest({
    id: `sample_${type.replaceAll(".", "_")}`,
    source: "trigger",
    receivedAt: Date.parse(event.createdAt),
    secrets: [],
    request: {
      method: "POST",
      path: "/webhooks/mail",
      headers: [["content-type", "application/json"]],
      body: Buffer.from(JSON.stringify(event)),
    },
  });
  const note = "A sample with assumed data. Replace it by a real capture.";
  return `${JSON.stringify({ ...capture, note }, undefined, 2)}\n`;
}
