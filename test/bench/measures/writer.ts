import { startChild } from "../process/child.js";
import { SERVER_CORE } from "../process/pinning.js";
import type { WriterCalls, WriterTimes } from "../process/writer-process.js";
import { median } from "../stats.js";
import { formatNumber, formatTable, printLine, printProgress, printTitle } from "../table.js";
import type { MeasureContext } from "./context.js";

/** Events of one interval, and for a quick look. */
const EVENTS = 20_000;
const QUICK_EVENTS = 4_000;
const EVENTS_PER_BATCH = 40;

/** What the writer's statements cost: accepting and settling at batches of 40, on this thread, a transaction each. */
export async function measureWriter(context: MeasureContext): Promise<void> {
  const { facts, options, runtime } = context;
  const events = options.quick ? QUICK_EVENTS : EVENTS;
  printTitle(
    `Writer, Node ${runtime.version}: ${events} events accepted and settled at batches of ${EVENTS_PER_BATCH}, ${options.rounds} rounds`,
  );
  const times = { plain: [] as WriterTimes[], mixed: [] as WriterTimes[] };
  for (let round = 0; round < options.rounds; round += 1) {
    for (const kind of round % 2 === 0 ? (["plain", "mixed"] as const) : (["mixed", "plain"] as const)) {
      times[kind].push(await measureOnce(context, { events, mixed: kind === "mixed" }));
    }
    printProgress(`writer, round ${round + 1} of ${options.rounds}`);
  }
  const formatTimes = (title: string, rows: readonly WriterTimes[]): string[] => [
    title,
    ...(["user", "system", "wall"] as const).map((figure) => formatNumber(median(rows.map((row) => row[figure])), 1)),
  ];
  printLine(
    formatTable(
      ["µs per event", "user CPU", "system CPU", "on the clock"],
      [formatTimes("one handler", times.plain), formatTimes("3 handlers each, 5 types, 1 % failures", times.mixed)],
    ),
  );
  facts.set("writer µs", median(times.plain.map(({ user }) => user)));
}

/** A fresh process and a fresh file, after one that warms up. */
async function measureOnce(
  { runtime, scratch }: MeasureContext,
  plan: { events: number; mixed: boolean },
): Promise<WriterTimes> {
  const child = startChild<WriterCalls>({ file: "process/writer-process.ts", runtime, cores: SERVER_CORE });
  try {
    await child.call("measure", { ...plan, file: scratch.file("writer-warm-up.db") });
    return await child.call("measure", { ...plan, file: scratch.file("writer.db") });
  } finally {
    await child.end();
  }
}
