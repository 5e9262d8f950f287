import type { MeasureContext } from "./context.js";
import { measureRecording } from "./outbox-recording.js";
import { measureSending } from "./outbox-sending.js";

/** Contact events: what recording adds to a handler (P12), and how fast they are sent (P13). */
export async function measureOutbox(context: MeasureContext): Promise<void> {
  await measureRecording(context);
  await measureSending(context);
}
