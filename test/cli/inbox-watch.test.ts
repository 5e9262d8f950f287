import pc from "picocolors";
import { describe, expect, test } from "vitest";
import { cutLine, openScreen } from "#pigeonhole/cli/frame/screen.js";
import { lookRecord, type LookedAt, takeLook } from "#pigeonhole/cli/inbox/watch-look.js";
import { describeLook, lineOfLook } from "#pigeonhole/cli/inbox/describe-look.js";
import type { Figures, ReportedStatus } from "#pigeonhole/store/figures.js";
import { toFigureSeries } from "#pigeonhole/store/figure-series.js";
import { NO_FIGURES, addToRow } from "#pigeonhole/store/figure-rows.js";
import { figuresOf } from "../support/ended-runs.js";

const NOW = Date.UTC(2026, 0, 31, 12, 0, 5);
const STEP = 10_000;
const HOSTILE = "\u001b[2J\u202e\n<b>";
const PLAIN = pc.createColors(false);

const status: ReportedStatus = {
  process: "p1",
  host: "web",
  pid: 7,
  state: "running",
  role: "all",
  startedAt: NOW - 60_000,
  failuresInARow: 3,
  failureTimes: [NOW - 7_000, NOW - 6_000, NOW - 5_000],
  lastSuccessAt: undefined,
  lastAcceptedAt: NOW - 4_000,
  silenceAfterMs: undefined,
  waiting: 0,
  runningCount: 12,
  running: [{ handler: HOSTILE, eventId: HOSTILE.repeat(50_000), since: NOW - 9_000 }],
  reportedAt: NOW - 5_000,
};

const figures: Figures = {
  ...NO_FIGURES,
  answers: { accepted: 8, parked: 2 },
  runs: new Map([[HOSTILE, { done: [0, 5], failed: [0, 4] }]]),
};

/** A database in which every text is hostile. */
function hostileInbox(statuses: ReportedStatus[] = [status]): LookedAt {
  const events = { pending: 5, leased: 1, dead: 2, parked: 3, done: 40, oldestDueAt: undefined };
  const oldest = { oldestPendingReceivedAt: NOW - 90_000, oldestLeasedReceivedAt: NOW - 120_000 };
  const group = {
    id: "group",
    handler: HOSTILE,
    type: HOSTILE,
    kind: "Error",
    message: HOSTILE.repeat(50_000),
    events: 50_000,
    isCapped: true,
    failures: 60_000,
    states: { pending: 0, leased: 0, dead: 0, parked: 0 },
    firstAt: NOW - 8_000,
    lastAt: NOW - 2_000,
    steps: [],
    example: { id: HOSTILE, state: "dead", error: HOSTILE, reason: undefined },
  } as const;
  return {
    database: `/tmp/${HOSTILE}`,
    overview: () =>
      Promise.resolve({
        events: { ...events, ...oldest, pendingByHandler: { [HOSTILE]: 5 } },
        contactEvents: { pending: 1, leased: 0, dead: 0, oldestRecordedAt: NOW - 30_000 },
      }),
    readFigures: (range) =>
      Promise.resolve(
        toFigureSeries([{ step: NOW - 5_000 - STEP, figures: addToRow(undefined, figures) }], { range, now: NOW }),
      ),
    readStatuses: () => Promise.resolve(statuses),
    listEvents: () => Promise.resolve({ items: [], cursors: [], nextCursor: undefined }),
    listPaused: () => Promise.resolve([{ handler: HOSTILE, since: NOW - 1_000, by: HOSTILE }]),
    listErrorGroups: () => Promise.resolve({ items: [{ ...group, steps: [] }], nextCursor: "1-1" }),
  };
}

/** What a terminal would act on, or hide, or reverse. */
// oxlint-disable-next-line no-control-regex -- these are what must not be printed
const DANGEROUS = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

describe("a look", () => {
  test("has states, ages, the rates of the last step that is over, and what runs", async () => {
    const look = await takeLook(hostileInbox(), NOW);
    expect(lookRecord(look)).toMatchObject({
      receiver: "running",
      failuresInARow: 3,
      events: { pending: 5, oldestAgeMs: 120_000 },
      contactEvents: { oldestAgeMs: 30_000 },
      rates: {
        since: "2026-01-31T11:59:50.000Z",
        stepMs: STEP,
        answers: { accepted: 8, parked: 2 },
        handlers: [{ handler: HOSTILE, runs: 9, failed: 4 }],
      },
      runningCount: 12,
      running: [{ host: "web", pid: 7, since: "2026-01-31T11:59:56.000Z" }],
    });
  });

  test("says that no receiver reports, and takes the time of a database whose clock is another one", async () => {
    const gone = { ...status, reportedAt: NOW - 121_000 };
    const look = await takeLook(hostileInbox([gone]), NOW);
    expect(describeLook(look, PLAIN)[1]).toBe("receiver  none has reported in the last 2 minutes");
    const late = await takeLook(hostileInbox(), NOW + 3_600_000);
    expect([late.receiver, late.at]).toEqual(["running", NOW + 4_999]);
  });

  test.each<[what: string, tookMs: number, p95Ms: number | null, text: string]>([
    ["five seconds", 5_000, 5_500, "< 5.5 s"],
    ["over five minutes", 301_000, null, "> 5 min"],
  ])("a run of %s is said by the end of its range", async (_, fromMs, p95Ms, text) => {
    const { runs } = figuresOf([{ handler: "slow", outcome: "done", fromMs, runs: 1 }]);
    const readFigures: LookedAt["readFigures"] = (range) =>
      Promise.resolve(
        toFigureSeries([{ step: NOW - 5_000 - STEP, figures: addToRow(undefined, { ...figures, runs }) }], {
          range,
          now: NOW,
        }),
      );
    const look = await takeLook({ ...hostileInbox(), readFigures }, NOW);
    expect(lookRecord(look)).toMatchObject({ rates: { handlers: [{ handler: "slow", p95Ms }] } });
    expect(describeLook(look, PLAIN).join("\n")).toMatch(new RegExp(`1 +0 +${text} +slow`));
  });

  test("is shown with hostile and long texts as text, in lines that stay short", async () => {
    const look = await takeLook(hostileInbox(), NOW);
    const lines = [...describeLook(look, PLAIN), lineOfLook(look)];
    for (const line of lines) {
      expect(line).not.toMatch(DANGEROUS);
      expect(line.length).toBeLessThan(400);
    }
    const shown = lines.join("\n");
    expect(shown).toContain(String.raw`\u001b[2J\u202e\n<b>`);
    expect(shown).toContain("8 accepted, 2 parked in 10 s until 12:00:00");
    expect(shown).toContain("3 of 100 failures in a row, last accepted 4 s ago");
    expect(shown).toContain("and 11 more");
    expect(shown).toContain("There are more groups: pigeonhole inbox errors");
  });
});

describe("a screen", () => {
  test("cuts a line by its characters and keeps its colours", () => {
    expect(cutLine("\u001b[31mdead 12\u001b[39m and more", 6)).toBe("\u001b[31mdead …\u001b[39m");
    expect(cutLine("\u001b[31mdead\u001b[39m", 4)).toBe("\u001b[31mdead\u001b[39m");
    expect(cutLine("dead", 1)).toBe("…");
  });

  test("is drawn again when the terminal changes its size, and cut to it", () => {
    let written: string[] = [];
    const resized = new Set<() => void>();
    const stream = {
      columns: 10,
      rows: 3,
      write: (text: string) => written.push(text) > 0,
      on: (_: "resize", listener: () => void) => resized.add(listener),
      off: (_: "resize", listener: () => void) => resized.delete(listener),
    };
    const exits = process.listenerCount("exit");
    const screen = openScreen(stream);
    screen.draw(["0123456789", "b", "c", "d"]);
    expect(written.at(-1)).toBe("\u001b[H01234567…\u001b[K\r\nb\u001b[K\r\n… 2 more\u001b[K\u001b[J");
    written = [];
    stream.rows = 4;
    for (const listener of resized) listener();
    expect(written.join("")).toContain("c\u001b[K\r\nd\u001b[K\u001b[J");
    screen.close();
    expect(written.at(-1)).toBe("\u001b[?7h\u001b[?25h\u001b[?1049l");
    expect([resized.size, process.listenerCount("exit")]).toEqual([0, exits]);
  });
});
