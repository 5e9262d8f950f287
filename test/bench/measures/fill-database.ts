import { startChild } from "../process/child.js";
import type { FillCalls, FillPlan } from "../process/fill-process.js";
import { LOAD_CORE } from "../process/pinning.js";
import { printProgress } from "../table.js";
import type { MeasureContext } from "./context.js";

/** Five million rows take some minutes. */
const LIMIT_MS = 1_800_000;

/** Makes a file of ours with many stored events, through the product's own commands, without waiting for the disk. */
export async function fillDatabase({ runtime }: MeasureContext, plan: FillPlan): Promise<void> {
  printProgress(`storing ${plan.rows} ${plan.work} events`);
  const child = startChild<FillCalls>({ file: "process/fill-process.ts", runtime, cores: LOAD_CORE });
  try {
    await child.call("fill", plan, LIMIT_MS);
  } finally {
    await child.end();
  }
}
