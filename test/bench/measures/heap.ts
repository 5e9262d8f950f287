import { findContestant } from "../contestants/catalogue.js";
import { createHeapSampling, type AllocatingFunction } from "../process/heap-profile.js";
import { formatNumber, formatTable, printLine, printTitle } from "../table.js";
import { tryStart } from "./alternate.js";
import type { MeasureContext } from "./context.js";

const CONTESTANTS = ["front", "front-accept", "route", "prototype", "prototype-accept", "stripe"];
/** The one whose functions are listed, and judged. */
const JUDGED = "front";
const LISTED = 10;
/** After so many V8 has compiled what each delivery runs; a busy machine takes longer for them. */
const WARM_UP_DELIVERIES = 20_000;
/** Most turns of the warm-up, for a server that answers nothing. */
const WARM_UP_TURNS = 30;
const KILOBYTE = 1_000;

/** Bytes allocated on the main thread per delivery, by a sampling heap profile during a load. */
export async function measureHeap(context: MeasureContext): Promise<void> {
  const { facts, options, runtime } = context;
  printTitle(
    `Heap, Node ${runtime.version}: allocated on the main thread per 4 KB delivery, ${options.seconds} s of load`,
  );
  const rows: string[][] = [];
  let top: string[][] = [];
  for (const name of options.contestants ?? CONTESTANTS) {
    const profile = await profileOne(context, name);
    if (profile === undefined) continue;
    const bytes = profile.functions.reduce((sum, { bytes }) => sum + bytes, 0) / profile.accepted;
    rows.push([findContestant(name).title, formatNumber(bytes / KILOBYTE, 1)]);
    if (name !== JUDGED) continue;
    facts.set("heap kB", bytes / KILOBYTE);
    top = profile.functions.slice(0, LISTED).map(({ name, place, bytes }) => {
      return [`${name}  ${place}`.trimEnd(), formatNumber(bytes / profile.accepted / KILOBYTE, 2)];
    });
  }
  printLine(formatTable(["", "kB per delivery"], rows));
  if (top.length > 0) printLine(`\n${formatTable([`${JUDGED}, by function itself`, "kB per delivery"], top)}`);
  printLine("estimates from one sample in 16 KB; what was collected meanwhile counts");
}

async function profileOne(
  context: MeasureContext,
  name: string,
): Promise<{ accepted: number; functions: AllocatingFunction[] } | undefined> {
  const { options, scratch } = context;
  const sampling = createHeapSampling(scratch.file(`${name}.heapprofile`));
  const server = await tryStart(context, {
    contestant: findContestant(name),
    nodeFlags: sampling.nodeFlags,
    env: sampling.env,
  });
  if (server === undefined) return undefined;
  const { connections, seconds } = options;
  try {
    for (let turn = 0; turn < WARM_UP_TURNS && server.accepted < WARM_UP_DELIVERIES; turn += 1)
      await server.measure({ connections, seconds }, false);
    await sampling.start(server.pid);
    const before = server.accepted;
    await server.measure({ connections, seconds }, false);
    return { functions: await sampling.stop(server.pid), accepted: server.accepted - before };
  } finally {
    await server.end();
  }
}
