import { CANDIDATES, VERIFY_SIZES } from "../contestants/verify-candidates.js";
import type { Facts } from "../goals.js";
import { startChild } from "../process/child.js";
import { measureOpensslHmac } from "../process/openssl.js";
import { SERVER_CORE } from "../process/pinning.js";
import type { Runtime } from "../process/runtime.js";
import type { VerifyCalls, VerifyTime } from "../process/verify-process.js";
import { BODY_BYTES } from "../sample-delivery.js";
import { median, medianRatio } from "../stats.js";
import { formatNumber, formatTable, printLine, printProgress, printTitle } from "../table.js";
import type { MeasureContext } from "./context.js";

const OPENSSL = "openssl speed";
/** The candidates of one round share this many intervals' time. */
const SLICES = 12;

type Times = readonly VerifyTime[];

/** Verification alone, against createHmac, OpenSSL's own speed and other packages (P7). */
export async function measureVerify(context: MeasureContext): Promise<void> {
  const { options, facts, runtime } = context;
  printTitle(`Verification alone, Node ${runtime.version}, one core, ${options.rounds} alternated rounds`);
  const times = await runRounds(runtime, options.rounds, (options.seconds * 1000) / SLICES);
  printSizes(times);
  printPeers(times);
  recordFacts(facts, times);
}

async function runRounds(runtime: Runtime, rounds: number, sliceMs: number): Promise<Times> {
  const child = startChild<VerifyCalls>({ file: "process/verify-process.ts", runtime, cores: SERVER_CORE });
  const times: VerifyTime[] = [];
  try {
    await child.call("measureRound", { sliceMs: sliceMs / 2, reversed: false });
    for (let round = 0; round < rounds; round += 1) {
      printProgress(`verification, round ${round + 1} of ${rounds}`);
      times.push(...(await child.call("measureRound", { sliceMs, reversed: round % 2 === 1 })));
      for (const bytes of VERIFY_SIZES) {
        const micros = measureOpensslHmac(bytes, SERVER_CORE);
        if (micros !== undefined) times.push({ bytes, name: OPENSSL, micros });
      }
    }
  } finally {
    await child.end();
  }
  return times;
}

function select(times: Times, bytes: number, name: string): number[] {
  return times.filter((time) => time.bytes === bytes && time.name === name).map(({ micros }) => micros);
}

function printSizes(times: Times): void {
  const rows = VERIFY_SIZES.map((bytes) => {
    const ours = select(times, bytes, CANDIDATES.ours);
    const hmac = select(times, bytes, CANDIDATES.hmac);
    const openssl = select(times, bytes, OPENSSL);
    return [
      bytes >= 1_048_576 ? `${bytes / 1_048_576} MB` : `${bytes / 1024} KB`,
      formatNumber(median(openssl), 2),
      formatNumber(median(hmac), 2),
      formatNumber(median(ours), 2),
      formatNumber(medianRatio(ours, hmac), 2),
      `${formatNumber(medianRatio(openssl, ours) * 100, 0)} %`,
      `${formatNumber(medianRatio(openssl, hmac) * 100, 0)} %`,
    ];
  });
  const header = ["µs", OPENSSL, "createHmac", "ours", "/ createHmac", "of OpenSSL", "createHmac of it"];
  printLine(formatTable(header, rows));
}

function printPeers(times: Times): void {
  const ours = select(times, BODY_BYTES, CANDIDATES.ours);
  const rows = [CANDIDATES.stripe, CANDIDATES.octokit].map((name) => {
    const micros = select(times, BODY_BYTES, name);
    return [name, formatNumber(median(micros), 2), formatNumber(medianRatio(micros, ours), 2)];
  });
  printLine(`\n${formatTable(["4 KB, signature only", "µs", "/ ours"], rows)}`);
}

function recordFacts(facts: Facts, times: Times): void {
  const atSize = (bytes: number, name: string): number[] => select(times, bytes, name);
  for (const bytes of VERIFY_SIZES) {
    facts.set(`verify ${bytes} %`, medianRatio(atSize(bytes, OPENSSL), atSize(bytes, CANDIDATES.ours)) * 100);
  }
  const ours = atSize(BODY_BYTES, CANDIDATES.ours);
  facts.set("verify ours/hmac", medianRatio(ours, atSize(BODY_BYTES, CANDIDATES.hmac)));
  for (const peer of ["stripe", "octokit"] as const) {
    const theirs = atSize(BODY_BYTES, CANDIDATES[peer]);
    facts.set(`verify ${peer}/ours`, medianRatio(theirs, ours));
  }
}
