import { formatNumber, formatTable, printLine, printTitle } from "./table.js";

/** Figures by key, as the measures record them and the goals look them up. */
export type Facts = Map<string, number>;

interface Goal {
  id: string;
  text: string;
  fact: string;
  /** The figure has to be at least or at most this. */
  least?: number;
  most?: number;
  /** Digits to print. */
  digits: number;
}

/** Goals of the performance research, and of the outbox (P12, P13); ratios within one alternated run. */
const GOALS: readonly Goal[] = [
  { id: "P1", text: "front, one core: x the Express floor", fact: "1core front/express", least: 1.1, digits: 2 },
  { id: "P1", text: "front, one core: x bare node:http", fact: "1core front/http", least: 0.2, digits: 2 },
  {
    id: "P1",
    text: "front, one core: x verify and parse alone",
    fact: "1core front/http-no-store",
    least: 0.6,
    digits: 2,
  },
  { id: "P2", text: "front, two cores: x the Express floor", fact: "2cores front/express", least: 1.3, digits: 2 },
  { id: "P2", text: "the same with 200 connections", fact: "2cores 200 front/express", least: 1.5, digits: 2 },
  { id: "P3", text: "Express route: x the Express floor", fact: "route/express", least: 0.6, digits: 2 },
  { id: "P3", text: "prototypes at construction: x the floor", fact: "prototypes/express", least: 1, digits: 2 },
  { id: "P4", text: "front: x one transaction per delivery", fact: "front/naive", least: 5, digits: 1 },
  { id: "P4", text: "the same with 1 ms more per fsync", fact: "fsync1 front/naive", least: 12, digits: 1 },
  { id: "P4", text: "the same with 5 ms more per fsync", fact: "fsync5 front/naive", least: 20, digits: 1 },
  { id: "P5", text: "1 ms fsync, front: x the Express floor", fact: "fsync1 front/express", least: 0.9, digits: 2 },
  { id: "P7", text: "verify, % of OpenSSL's HMAC at 4 KB", fact: "verify 4096 %", least: 45, digits: 0 },
  { id: "P7", text: "verify, % of OpenSSL's HMAC at 64 KB", fact: "verify 65536 %", least: 90, digits: 0 },
  { id: "P7", text: "verify, % of OpenSSL's HMAC at 1 MB", fact: "verify 1048576 %", least: 97, digits: 0 },
  { id: "P7", text: "verify: stripe's time / ours at 4 KB", fact: "verify stripe/ours", least: 1, digits: 2 },
  { id: "P7", text: "verify: octokit's time / ours at 4 KB", fact: "verify octokit/ours", least: 1, digits: 2 },
  { id: "P7", text: "verify: svix's time / ours at 4 KB", fact: "verify svix/ours", least: 7, digits: 1 },
  { id: "P8", text: "front at 2,400 req/s: p50 ms", fact: "moderate p50", most: 1, digits: 2 },
  { id: "P8", text: "front at 2,400 req/s: p99 ms", fact: "moderate p99", most: 15, digits: 1 },
  { id: "P8", text: "the same with 5 ms fsync: max ms", fact: "moderate fsync5 max", most: 100, digits: 0 },
  { id: "P8", text: "front at saturation: p99 ms", fact: "front p99", most: 30, digits: 1 },
  { id: "P9", text: "front, many stored ids: x empty database", fact: "growth", least: 0.75, digits: 2 },
  { id: "P10", text: "backlog: open to first handler, ms", fact: "backlog ms", most: 100, digits: 0 },
  { id: "P10", text: "backlog: peak RSS, MB", fact: "backlog MB", most: 150, digits: 0 },
  { id: "P11", text: "settling cold rows: µs CPU each", fact: "settle", most: 5, digits: 1 },
  { id: "P12", text: "recording, delivery to done: x the CPU", fact: "recording", most: 1.1, digits: 2 },
  { id: "P12", text: "recording, 1 ms fsync, one handler: x the time", fact: "recording fsync1", most: 1.1, digits: 2 },
  { id: "P12", text: "the same, ended by ctx.commit", fact: "recording fsync1 commit", most: 1.1, digits: 2 },
  { id: "P13", text: "sending one at a time: events/s", fact: "sending singles", least: 10, digits: 0 },
  { id: "P13", text: "batches of 100: x single sends", fact: "sending batches/singles", least: 5, digits: 1 },
];

function formatGoal(goal: Goal, measured: number): string[] {
  const { least = -Infinity, most = Infinity } = goal;
  const bound = goal.least === undefined ? `<= ${goal.most}` : `>= ${goal.least}`;
  const verdict = measured >= least && measured <= most ? "met" : "NOT MET";
  return [`${goal.id}  ${goal.text}`, bound, formatNumber(measured, goal.digits), verdict];
}

/** Prints the goals for which this run has a figure, and names the others. */
export function printGoals(facts: Facts): void {
  const rows = GOALS.flatMap((goal) => {
    const measured = facts.get(goal.fact);
    return measured === undefined || !Number.isFinite(measured) ? [] : [formatGoal(goal, measured)];
  });
  printTitle("Goals");
  if (rows.length > 0) printLine(formatTable(["goal", "wanted", "measured", ""], rows));
  const missing = new Set(
    GOALS.filter(({ fact }) => !Number.isFinite(facts.get(fact) ?? Number.NaN)).map(({ id }) => id),
  );
  if (missing.size > 0) printLine(`not, or not wholly, measured in this run: ${[...missing].join(", ")}`);
  printLine("P6 (BullMQ, pg-boss, graphile-worker) needs their servers and is not part of this benchmark");
}
