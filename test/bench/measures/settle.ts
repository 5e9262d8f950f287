import { startChild } from "../process/child.js";
import { SERVER_CORE } from "../process/pinning.js";
import type { SettleCalls, SettleTimes } from "../process/settle-process.js";
import { HANDLER_NAME } from "../sample-delivery.js";
import { median } from "../stats.js";
import { formatNumber, formatTable, printLine, printTitle } from "../table.js";
import type { MeasureContext } from "./context.js";
import { fillDatabase } from "./fill-database.js";

/** Settlements in one interval; their rows are larger than SQLite's cache. */
const COUNT = 50_000;

/** What marking cold work as done costs (P11). */
export async function measureSettle(context: MeasureContext): Promise<void> {
  const { facts, options, runtime, scratch } = context;
  const rounds = Math.max(1, Math.min(options.rounds, Math.floor(options.rows / COUNT / 2)));
  const count = Math.min(COUNT, Math.floor(options.rows / 2));
  printTitle(
    `Settle, Node ${runtime.version}: ${count} cold pieces of work marked done, ${options.rows} pending, ${rounds} rounds`,
  );
  const file = scratch.file("settle.db");
  await fillDatabase(context, { file, rows: options.rows, work: "pending", withBodies: false });
  const times = { thread: [] as SettleTimes[], inline: [] as SettleTimes[] };
  for (let round = 0; round < rounds; round += 1) {
    times.thread.push(await settleOnce(context, { file, count, thread: true }));
    times.inline.push(await settleOnce(context, { file, count, thread: false }));
  }
  const formatTimes = (title: string, rows: readonly SettleTimes[]): string[] => [
    title,
    ...(["wall", "cpu", "lease"] as const).map((figure) => formatNumber(median(rows.map((row) => row[figure])), 1)),
  ];
  printLine(
    formatTable(
      ["", "µs each", "µs CPU each", "lease: µs each"],
      [formatTimes("writer thread, with the hop", times.thread), formatTimes("same thread", times.inline)],
    ),
  );
  facts.set("settle", median(times.inline.map(({ cpu }) => cpu)));
}

/** A fresh process each time, so that neither has the pages of the other in its cache. */
async function settleOnce(
  { runtime }: MeasureContext,
  plan: { file: string; count: number; thread: boolean },
): Promise<SettleTimes> {
  const child = startChild<SettleCalls>({ file: "process/settle-process.ts", runtime, cores: SERVER_CORE });
  try {
    return await child.call("settle", { ...plan, handler: HANDLER_NAME });
  } finally {
    await child.end();
  }
}
