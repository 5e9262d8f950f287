import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { readInboxFile, readUndone } from "../support/inbox-file.js";
import { type Supervisor, type Task, findFreePort, superviseReceiver } from "../support/receiver-process.js";
import { SECRET, createScratch } from "../support/scratch.js";
import { ServiceSender, type TestEvent } from "../support/service-sender.js";
import { waitUntil } from "../support/wait-until.js";

const DEATHS_THAT_PARK = 4;

interface Crashing {
  file: string;
  handlers: readonly string[];
  supervisor: Supervisor;
  sender: ServiceSender;
}

/** A receiver that is started again whenever it dies. Each handler writes an effect of each event. */
async function startCrashing(...handlers: string[]): Promise<Crashing> {
  const { file } = createScratch();
  const port = await findFreePort();
  const committing = Object.fromEntries(handlers.map((handler) => [handler, { kind: "commit" as const }]));
  const supervisor = superviseReceiver({ file, port, secret: SECRET, concurrency: 8, handlers: committing });
  const sender = new ServiceSender({ secret: SECRET, port: () => port, random: Math.random });
  await supervisor.current.line("ready");
  return { file, handlers, supervisor, sender };
}

async function deliverAll({ sender }: Crashing, events: TestEvent[]): Promise<void> {
  const delivered = await Promise.all(events.map((event) => sender.deliver(event)));
  expect(delivered.filter((delivery) => !delivery.delivered)).toEqual([]);
}

/** Waits until all work is done but for these (event, handler) pairs, which are parked after four deaths. */
async function expectParked(crashing: Crashing, events: readonly TestEvent[], parked: readonly string[]) {
  const { file, handlers, supervisor, sender } = crashing;
  const isOver = () => readUndone(file).every(({ state }) => state === "parked");
  await waitUntil("all work is done or parked", isOver, 120_000);
  expect(await supervisor.stop()).toEqual({ code: 0, signal: null });
  sender.close();
  const { work, effects, done } = readInboxFile(file);
  expect(
    work.map(({ id, handler, reason, started, finished }) => `${id} ${handler} ${reason} ${started}/${finished}`),
  ).toEqual(parked.map((pair) => `${pair} crash_loop ${DEATHS_THAT_PARK}/0`));
  const all = events.flatMap(({ id }) => handlers.map((handler) => `${id} ${handler}`)).toSorted();
  const pairs = (rows: readonly { id: string; handler: string }[]) =>
    rows.map(({ id, handler }) => `${id} ${handler}`).toSorted();
  expect(pairs(effects)).toEqual(all.filter((pair) => !parked.includes(pair)));
  expect(pairs(done)).toEqual(pairs(effects));
}

function ordinary(count: number, { handlers }: Crashing, name = "ordinary"): TestEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `${name}_${index}`,
    tasks: Object.fromEntries(handlers.map((handler) => [handler, { waitMs: 5 + (index % 4) * 10 }])),
  }));
}

it.each<[string, Task]>([
  ["SIGKILL to itself before the first await", { die: "kill" }],
  ["process.exit after an await", { die: "exit", dieAfterMs: 15 }],
])("an event that kills the process is parked after four deaths, and nothing else is: %s", async (_, task) => {
  const crashing = await startCrashing("only");
  const events = ordinary(60, crashing).toSpliced(30, 0, { id: "poison", tasks: { only: task } });
  await deliverAll(crashing, events);
  await waitUntil("the poison is parked", () => readUndone(crashing.file).some(({ state }) => state === "parked"));
  const later = ordinary(10, crashing, "later");
  await deliverAll(crashing, later);
  await expectParked(crashing, [...events, ...later], ["poison only"]);
  expect(crashing.supervisor.deaths).toHaveLength(DEATHS_THAT_PARK);
});

it.each(["first", "second"])(
  "two events that kill the process, one of them in the %s handler, are parked, and no others",
  async (where) => {
    const crashing = await startCrashing("first", "second");
    const poisonA: TestEvent = { id: "poison_a", tasks: { first: { die: "kill" } } };
    const poisonB: TestEvent = { id: "poison_b", tasks: { [where]: { die: "exit", dieAfterMs: 10 } } };
    const events = ordinary(60, crashing).toSpliced(20, 0, poisonA).toSpliced(45, 0, poisonB);
    await deliverAll(crashing, events);
    await expectParked(crashing, events, ["poison_a first", `poison_b ${where}`]);
    // Each has three deaths of its own or shared ones; the last two of each are never shared.
    expect(crashing.supervisor.deaths.length).toBeGreaterThanOrEqual(DEATHS_THAT_PARK + 1);
    expect(crashing.supervisor.deaths.length).toBeLessThanOrEqual(2 * DEATHS_THAT_PARK);
  },
);

it("an event is not parked if the process is killed from outside in each of its first three runs", async () => {
  const crashing = await startCrashing("only");
  const { supervisor } = crashing;
  const slow: TestEvent = { id: "slow", tasks: { only: { waitMs: 400, tellStart: true } } };
  await deliverAll(crashing, [slow]);
  for (let death = 1; death <= 3; death += 1) {
    await supervisor.current.line("begun");
    supervisor.current.signal("SIGKILL");
    await waitUntil(`death ${death}`, () => supervisor.deaths.length === death);
  }
  await expectParked(crashing, [slow], []);
  expect(supervisor.deaths).toHaveLength(3);
});

describe("a slow handler next to an event that kills the process", () => {
  const slow: TestEvent = { id: "slow", tasks: { first: { waitMs: 600, tellStart: true } } };
  const poisonIn = (handler: string): TestEvent => {
    return { id: "poison", tasks: { [handler]: { die: "kill", dieAfterMs: 30 } } };
  };

  it.each(["first", "second"])(
    "a slow handler's event is not parked if the process dies in the %s handler",
    async (where) => {
      const crashing = await startCrashing("first", "second");
      const events = [slow, poisonIn(where)];
      await deliverAll(crashing, events);
      await expectParked(crashing, events, [`poison ${where}`]);
    },
  );

  it.each(["first", "second"])(
    "a slow handler's event is not parked if a second crash comes while it runs alone, in the %s handler",
    async (where) => {
      const crashing = await startCrashing("first", "second");
      const { supervisor } = crashing;
      const events = [slow, poisonIn("first")];
      await deliverAll(crashing, events);
      await waitUntil("two deaths", () => supervisor.deaths.length === 2);
      await supervisor.current.line("ready");
      await sleep(50);
      const late: TestEvent = { id: "late_poison", tasks: { [where]: { die: "kill" } } };
      await deliverAll(crashing, [late]);
      await expectParked(crashing, [...events, late], ["poison first", `late_poison ${where}`]);
    },
  );
});
