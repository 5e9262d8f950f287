import { createServer, type Server } from "node:http";
import { createReceiver, type HandlerContext } from "pigeonhole";
import { createClient } from "pigeonhole/client";
import { quietLogger } from "../contestants/quiet-logger.js";
import { EVENT_TYPE, HANDLER_NAME, HOOK_PATH, SECRET } from "../sample-delivery.js";
import { serveCalls } from "./child-calls.js";
import { readCpuTime } from "./cpu-time.js";

/** CPU microseconds per settled event in each window; all threads. */
export interface RecordingTimes {
  plain: number[];
  recording: number[];
}

type Receiver = ReturnType<typeof createReceiver>;

/** Events at the beginning of a window that belong to the one before: they were read, or are being settled, in its way. */
const UNCLEAR = 1_000;

let receiver: Receiver | undefined;
let server: Server | undefined;
let handled = 0;
let isRecording = false;

/** A client whose calls hang, so that recording alone is measured and nothing is sent. */
function createDeafClient() {
  const hang: typeof fetch = (_url, init) =>
    new Promise((_resolve, reject) => {
      const signal = init?.signal;
      signal?.addEventListener("abort", () => reject(signal.reason as Error));
    });
  return createClient({ apiKey: "bench", baseUrl: "http://127.0.0.1:1", fetch: hang, timeoutMs: 3_600_000 });
}

function recordEvent(eventId: string, ctx: HandlerContext): void {
  ctx.contactEvents.record({ name: EVENT_TYPE, email: "ada@receiver.example", properties: { eventId } });
}

function openReceiver(file: string, handle: (eventId: string, ctx: HandlerContext) => void): Receiver {
  const opened = createReceiver({
    secrets: SECRET,
    store: file,
    logger: quietLogger,
    telemetry: false,
    api: createDeafClient(),
  });
  opened.on(EVENT_TYPE, (event, ctx) => handle(event.id, ctx), { name: HANDLER_NAME });
  return opened;
}

const calls = {
  /** Listens on a free port of the loopback interface; `setRecording` says whether the handler records. */
  async listen({ file }: { file: string }): Promise<{ port: number }> {
    receiver = openReceiver(file, (eventId, ctx) => {
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
  setRecording(on: boolean): Promise<void> {
    isRecording = on;
    return Promise.resolve();
  },
  /** CPU microseconds of this process so far, and how many events were handled. */
  look(): Promise<{ cpu: number; handled: number }> {
    return Promise.resolve({ cpu: readCpuTime().process, handled });
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
    const opened = openReceiver(plan.file, (eventId, ctx) => {
      const window = Math.floor(count / plan.windowSize);
      const place = count % plan.windowSize;
      count += 1;
      if (window >= plan.windows) return;
      if (window % 2 === 1) recordEvent(eventId, ctx);
      if (place === UNCLEAR) cpuStart = readCpuTime().process;
      if (place !== plan.windowSize - 1) return;
      const micros = (readCpuTime().process - cpuStart) / (plan.windowSize - 1 - UNCLEAR);
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
