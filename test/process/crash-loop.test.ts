import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type InboxFile, readInboxFile, readUndone } from "../support/inbox-file.js";
import {
  type ReceiverConfig,
  type Supervisor,
  type Task,
  findFreePort,
  superviseReceiver,
} from "../support/receiver-process.js";
import { SECRET, createScratch } from "../support/scratch.js";
import { ServiceSender, type TestEvent } from "../support/service-sender.js";
import { waitUntil } from "../support/wait-until.js";

const DEATHS_THAT_PARK = 4;

const DEADLY: { how: string; task: Task }[] = [
  { how: "SIGKILL to itself before the first await", task: { die: "kill" } },
  { how: "process.exit after an await", task: { die: "exit", dieAfterMs: 15 } },
];

interface Crashing {
  file: string;
  supervisor: Supervisor;
  sender: ServiceSender;
}

async function startCrashing(handlers: ReceiverConfig["handlers"]): Promise<Crashing> {
  const { file } = createScratch();
  const port = await findFreePort();
  const supervisor = superviseReceiver({ file, port, secret: SECRET, concurrency: 8, handlers });
  const sender = new ServiceSender({ secret: SECRET, port: () => port, random: Math.random });
  await supervisor.current.line("ready");
  return { file, supervisor, sender };
}

async function deliverAll(sender: ServiceSender, events: TestEvent[]): Promise<void> {
  const delivered = await Promise.all(events.map((event) => sender.deliver(event)));
  expect(delivered.filter((delivery) => !delivery.delivered)).toEqual([]);
}

/** Waits until nothing but the parked rest is left, stops the receiver and reads the file. */
async function settle({ file, supervisor, sender }: Crashing): Promise<InboxFile> {
  await waitUntil("all work is done or parked", 120_000, () =>
    readUndone(file).every(({ state }) => state === "parked"),
  );
  expect(await supervisor.stop()).toEqual({ code: 0, signal: null });
  sender.close();
  return readInboxFile(file);
}

function ordinary(count: number, handlers: string[], name = "ordinary"): TestEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `${name}_${index}`,
    tasks: Object.fromEntries(handlers.map((handler) => [handler, { waitMs: 5 + (index % 4) * 10 }])),
  }));
}

/** (event, handler) pairs as texts, sorted. */
function pairs(rows: readonly { id: string; handler: string }[]): string[] {
  return rows.map(({ id, handler }) => `${id} ${handler}`).toSorted();
}

function allPairs(events: readonly TestEvent[], handlers: readonly string[]): string[] {
  return pairs(events.flatMap(({ id }) => handlers.map((handler) => ({ id, handler }))));
}

describe("an event that kills the process", () => {
  it.each(DEADLY)(
    "an event that kills the process is parked after four deaths, and nothing else is: $how",
    { timeout: 180_000 },
    async ({ task }) => {
      const crashing = await startCrashing({ only: { kind: "commit" } });
      const innocent = ordinary(60, ["only"]);
      const poison = { id: "poison", tasks: { only: task } };
      await deliverAll(crashing.sender, innocent.toSpliced(30, 0, poison));
      await waitUntil("the poison is parked", 30_000, () =>
        readUndone(crashing.file).some(({ state }) => state === "parked"),
      );
      const later = ordinary(10, ["only"], "later");
      await deliverAll(crashing.sender, later);
      const inbox = await settle(crashing);

      expect(crashing.supervisor.deaths).toHaveLength(DEATHS_THAT_PARK);
      expect(inbox.work).toEqual([
        {
          id: "poison",
          handler: "only",
          state: "parked",
          reason: "crash_loop",
          started: DEATHS_THAT_PARK,
          finished: 0,
        },
      ]);
      expect(pairs(inbox.effects)).toEqual(allPairs([...innocent, ...later], ["only"]));
      expect(pairs(inbox.done)).toEqual(pairs(inbox.effects));
    },
  );
});

describe("two events that kill the process", () => {
  const HANDLERS = ["first", "second"];

  it.each([
    { where: "one handler", in: ["first", "first"] },
    { where: "two handlers", in: ["first", "second"] },
  ] as const)(
    "two events that kill the process in $where are parked, and no others",
    { timeout: 180_000 },
    async ({ in: [inA, inB] }) => {
      const crashing = await startCrashing({ first: { kind: "commit" }, second: { kind: "commit" } });
      const innocent = ordinary(60, HANDLERS);
      const poisonA = { id: "poison_a", tasks: { [inA]: { die: "kill" } } } satisfies TestEvent;
      const poisonB = { id: "poison_b", tasks: { [inB]: { die: "exit", dieAfterMs: 10 } } } satisfies TestEvent;
      await deliverAll(crashing.sender, innocent.toSpliced(20, 0, poisonA).toSpliced(45, 0, poisonB));
      const inbox = await settle(crashing);

      expect(inbox.work.map(({ id, handler, reason, started }) => ({ id, handler, reason, started }))).toEqual([
        { id: "poison_a", handler: inA, reason: "crash_loop", started: DEATHS_THAT_PARK },
        { id: "poison_b", handler: inB, reason: "crash_loop", started: DEATHS_THAT_PARK },
      ]);
      // Each has three deaths of its own or shared ones; the last two of each are never shared.
      expect(crashing.supervisor.deaths.length).toBeGreaterThanOrEqual(DEATHS_THAT_PARK + 1);
      expect(crashing.supervisor.deaths.length).toBeLessThanOrEqual(2 * DEATHS_THAT_PARK);
      const expected = allPairs([...innocent, poisonA, poisonB], HANDLERS).filter(
        (pair) => pair !== `poison_a ${inA}` && pair !== `poison_b ${inB}`,
      );
      expect(pairs(inbox.effects)).toEqual(expected);
      expect(pairs(inbox.done)).toEqual(expected);
    },
  );
});

describe("an event that does not kill the process", () => {
  it(
    "an event is not parked if the process is killed from outside in each of its first three runs",
    { timeout: 180_000 },
    async () => {
      const crashing = await startCrashing({ only: { kind: "commit" } });
      const { supervisor, sender } = crashing;
      const slow = { id: "slow", tasks: { only: { waitMs: 400, tellStart: true } } } satisfies TestEvent;
      await deliverAll(sender, [slow]);
      for (let death = 1; death <= 3; death += 1) {
        await supervisor.current.line("begun");
        supervisor.current.signal("SIGKILL");
        await waitUntil(`death ${death}`, 20_000, () => supervisor.deaths.length === death);
      }
      const inbox = await settle(crashing);

      expect(supervisor.deaths).toHaveLength(3);
      expect(inbox.work).toEqual([]);
      expect(pairs(inbox.effects)).toEqual(["slow only"]);
    },
  );
});

describe("a slow handler next to an event that kills the process", () => {
  const SLOW_MS = 600;
  const slow: TestEvent = { id: "slow", tasks: { first: { waitMs: SLOW_MS, tellStart: true } } };

  it.each(["first", "second"])(
    "a slow handler's event is not parked if the process dies in the %s handler",
    { timeout: 180_000 },
    async (where) => {
      const crashing = await startCrashing({ first: { kind: "commit" }, second: { kind: "commit" } });
      const poison = { id: "poison", tasks: { [where]: { die: "kill", dieAfterMs: 30 } } } satisfies TestEvent;
      await deliverAll(crashing.sender, [slow, poison]);
      const inbox = await settle(crashing);

      expect(inbox.work.map(({ id, handler }) => ({ id, handler }))).toEqual([{ id: "poison", handler: where }]);
      expect(pairs(inbox.effects)).toEqual(
        allPairs([slow, poison], ["first", "second"]).filter((pair) => pair !== `poison ${where}`),
      );
    },
  );

  it.each(["first", "second"])(
    "a slow handler's event is not parked if a second crash comes while it runs alone, in the %s handler",
    { timeout: 180_000 },
    async (where) => {
      const crashing = await startCrashing({ first: { kind: "commit" }, second: { kind: "commit" } });
      const { supervisor, sender } = crashing;
      const poison = { id: "poison", tasks: { first: { die: "kill", dieAfterMs: 30 } } } satisfies TestEvent;
      await deliverAll(sender, [slow, poison]);
      await waitUntil("two deaths", 20_000, () => supervisor.deaths.length === 2);
      await supervisor.current.line("ready");
      await sleep(50);
      const late = { id: "late_poison", tasks: { [where]: { die: "kill" } } } satisfies TestEvent;
      await deliverAll(sender, [late]);
      const inbox = await settle(crashing);

      expect(inbox.work.map(({ id, handler }) => ({ id, handler }))).toEqual([
        { id: "poison", handler: "first" },
        { id: "late_poison", handler: where },
      ]);
      expect(
        inbox.effects
          .filter(({ id }) => id === "slow")
          .map(({ handler }) => handler)
          .toSorted(),
      ).toEqual(["first", "second"]);
    },
  );
});
