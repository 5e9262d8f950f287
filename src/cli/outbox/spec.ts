import { defineCommand } from "../frame/spec.js";
import { databaseOption, limitOption } from "../values/options.js";

const group = "Operate";
const options = { db: databaseOption };
const keys = { variadic: true, summary: "Idempotency keys, as outbox list shows them." } as const;

export const outboxList = defineCommand({
  name: "outbox list",
  group,
  summary: "Lists recorded contact events with their state.",
  options: {
    ...options,
    state: { value: "state", choices: ["pending", "leased", "done", "dead"], summary: "Only those in this state." },
    limit: limitOption,
  },
  examples: [["pigeonhole outbox list --state dead", "what the service refused, and why"]],
});

export const outboxShow = defineCommand({
  name: "outbox show",
  group,
  summary: "Shows one contact event as it is sent, and the service's answer to it.",
  arguments: { key: { summary: "Its idempotency key." } },
  options,
  examples: [["pigeonhole outbox show <key>", "with the code and param of a refusal"]],
});

export const outboxRetry = defineCommand({
  name: "outbox retry",
  group,
  summary: "Sends dead contact events again.",
  arguments: { keys },
  options,
  examples: [["pigeonhole outbox retry <key>", "after the cause is fixed"]],
});

export const outboxDiscard = defineCommand({
  name: "outbox discard",
  group,
  summary: "Discards contact events that are dead or not yet being sent.",
  arguments: { keys },
  options,
  examples: [["pigeonhole outbox discard <key> --yes", "without being asked"]],
});

export const outboxStats = defineCommand({
  name: "outbox stats",
  group,
  summary: "Counts contact events by state.",
  options,
  examples: [["pigeonhole outbox stats", "what waits to be sent"]],
});
