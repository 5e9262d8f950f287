import { createServer, type Server } from "node:http";
import { HOOK_PATH } from "../sample-delivery.js";
import { serveCalls } from "./child-calls.js";
import { ownCpuMicros } from "./cpu-time.js";
import { openRecordingReceiver, recordEvent, type RecordingReceiver } from "./recording-receiver.js";

/** CPU microseconds per settled event in each window; all threads. */
export interface RecordingTimes {
  plain: number[];
  recording: number[];
}

/** CPU microseconds of this process so far, and how many events were handled. */
interface Progress {
  cpu: number;
  handled: number;
}

/**
 * Events at the beginning of a window that belong to the one before: they were read, or are being settled, in its way.
 */
const UNCLEAR = 1_000;

let receiver: RecordingReceiver | undefined;
let server: Server | undefined;
let handled = 0;
let isRecording = false;

const calls = {
  /** Listens on a free port of the loopback interface; `turn` says whether the handler records. */
  async listen({ file }: { file: string }): Promise<{ port: number }> {
    receiver = openRecordingReceiver(file, (eventId, ctx) => {
      handled += 1;
      if (isRecording) recordEvent(eventId, ctx);
    });
    await receiver.start();
    const listening = createServer(
      receiver.listener({ path: HOOK_PATH, next: (_request, response) => void response.writeHead(404).end() }),
    );
    server = listening;
    await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
    const address = listening.address();
    if (address === null || typeof address === "string") throw new Error("the server listens on no port");
    return { port: address.port };
  },
  /** From now on the handler records, or does not. */
  turn({ on }: { on: boolean }): Promise<Progress> {
    isRecording = on;
    return calls.look();
  },
  look(): Promise<Progress> {
    return Promise.resolve({ cpu: ownCpuMicros(), handled });
  },
  async stop(): Promise<void> {
    server?.closeAllConnections();
    server?.close();
    await receiver?.stop();
  },

  /** Works off a backlog; every other window of events records. */
  async drain(plan: { file: string; windows: number; windowSize: number }): Promise<RecordingTimes> {
    const times: RecordingTimes = { plain: [], recording: [] };
    let count = 0;
    let cpuStart = 0;
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const opened = openRecordingReceiver(plan.file, (eventId, ctx) => {
      const window = Math.floor(count / plan.windowSize);
      const place = count % plan.windowSize;
      count += 1;
      if (window >= plan.windows) return;
      if (window % 2 === 1) recordEvent(eventId, ctx);
      if (place === UNCLEAR) cpuStart = ownCpuMicros();
      if (place !== plan.windowSize - 1) return;
      const micros = (ownCpuMicros() - cpuStart) / (plan.windowSize - 1 - UNCLEAR);
      times[window % 2 === 1 ? "recording" : "plain"].push(micros);
      if (window === plan.windows - 1) finish();
    });
    await opened.start();
    await finished;
    await opened.stop();
    return times;
  },
};

export type RecordingCalls = typeof calls;

serveCalls(calls);
