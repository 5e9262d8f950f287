import type { ApiCalls } from "../process/api-process.js";
import { startChild, type Child } from "../process/child.js";
import { LOAD_CORE, SERVER_CORE } from "../process/pinning.js";
import { ownRuntime } from "../process/runtime.js";
import type { SendingCalls, SendingTimes } from "../process/sending-process.js";
import { median, medianRatio } from "../stats.js";
import { formatNumber, formatTable, printLine, printProgress, printTitle } from "../table.js";
import type { MeasureContext } from "./context.js";

interface Kind {
  title: string;
  count: number;
  perCall: number;
  /** Calls that the events should take. */
  requests: number;
}

const BATCHES: Kind = { title: "batches of 100", count: 20_000, perCall: 100, requests: 200 };
const SINGLES: Kind = { title: "single sends", count: 2_000, perCall: 1, requests: 2_000 };

/** How fast a full outbox is sent to an API on this machine that has no rate limit. */
export async function measureSending(context: MeasureContext): Promise<void> {
  const { facts, options } = context;
  printTitle(`Sending contact events to an API without a rate limit, ${options.rounds} alternated rounds`);
  const api = startChild<ApiCalls>({ file: "process/api-process.ts", runtime: ownRuntime(), cores: LOAD_CORE });
  const times = new Map<Kind, SendingTimes[]>([
    [BATCHES, []],
    [SINGLES, []],
  ]);
  try {
    const { baseUrl } = await api.call("listen", undefined);
    for (let round = 0; round < options.rounds; round += 1) {
      for (const kind of round % 2 === 0 ? [BATCHES, SINGLES] : [SINGLES, BATCHES]) {
        const sent = await sendOnce(context, { api, baseUrl, kind });
        times.get(kind)?.push(sent);
        printProgress(
          `round ${round + 1} of ${options.rounds}, ${kind.title}: ${sent.eventsPerSecond.toFixed(0)} events/s`,
        );
      }
    }
  } finally {
    await api.end();
  }
  printTimes(times);
  const rates = (kind: Kind): number[] => times.get(kind)?.map(({ eventsPerSecond }) => eventsPerSecond) ?? [];
  facts.set("sending batches/singles", medianRatio(rates(BATCHES), rates(SINGLES)));
  facts.set("sending singles", median(rates(SINGLES)));
}

function printTimes(times: Map<Kind, SendingTimes[]>): void {
  const rows = [...times].map(([{ title }, sent]) => [
    title,
    formatNumber(median(sent.map(({ eventsPerSecond }) => eventsPerSecond)), 0),
    formatNumber(median(sent.map(({ cpu }) => cpu)), 1),
  ]);
  printLine(formatTable(["", "events/s", "µs CPU each"], rows));
}

/** A fresh process and a fresh file; the API counts what came. */
async function sendOnce(
  { options, runtime, scratch }: MeasureContext,
  { api, baseUrl, kind }: { api: Child<ApiCalls>; baseUrl: string; kind: Kind },
): Promise<SendingTimes> {
  const child = startChild<SendingCalls>({
    file: "process/sending-process.ts",
    runtime,
    cores: SERVER_CORE,
    nodeFlags: options.profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${options.profile}`],
  });
  await api.call("takeCounts", undefined);
  try {
    const { count, perCall } = kind;
    const sent = await child.call("send", { file: scratch.file("sending.db"), count, perCall, baseUrl });
    const seen = await api.call("takeCounts", undefined);
    if (seen.events !== count || seen.requests !== kind.requests) {
      throw new Error(
        `the API saw ${seen.events} events in ${seen.requests} requests, not ${count} in ${kind.requests}`,
      );
    }
    return sent;
  } finally {
    await child.end();
  }
}
