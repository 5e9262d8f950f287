import { defineCommand, type OptionSpec, withValue } from "../frame/spec.js";
import { filterOptions } from "../../operator/filter-reader.js";
import { CONTACT_EVENT_STATES } from "../../store/state-words.js";
import { CONTACT_EVENT_FILTERS } from "../../store/filters.js";
import { databaseOption, limitOption } from "../values/options.js";

const group = "Operate";
const options = { db: databaseOption };
const keys = { variadic: true, optional: true, summary: "Idempotency keys, as outbox list shows them." } as const;

/** Which contact events; the same for lists and changes, so that a list shows what a change would choose. */
const { inboxEventId: eventOption, ...choiceOptions } = filterOptions(CONTACT_EVENT_FILTERS);

/** Which dead contact events, in place of named ones. */
const deadOptions = {
  state: withValue("state", "All dead contact events instead of named ones.", { choices: ["dead"] }),
  ...choiceOptions,
} as const satisfies Record<string, OptionSpec>;

export const outboxList = defineCommand({
  name: "outbox list",
  group,
  summary: "Lists recorded contact events with their state, attempts, next try and last error.",
  options: {
    ...options,
    state: withValue("state", "Only those in this state.", { choices: CONTACT_EVENT_STATES }),
    ...choiceOptions,
    event: eventOption,
    limit: limitOption,
  },
  examples: [
    ["pigeonhole outbox list --state dead", "what the service refused, and why"],
    ["pigeonhole outbox list --state dead --since 2h", "what outbox retry with these options would choose"],
  ],
});

export const outboxShow = defineCommand({
  name: "outbox show",
  group,
  summary: "Shows one contact event as it is sent, its attempts, and the service's answer to it.",
  arguments: { key: { summary: "Its idempotency key." } },
  options,
  examples: [["pigeonhole outbox show <key>", "with the code and param of a refusal"]],
});

export const outboxRetry = defineCommand({
  name: "outbox retry",
  group,
  summary: "Sends contact events again that are dead or wait for the next try of their call.",
  details:
    "Name them by key, or choose dead ones by the options, which must all fit. A running receiver sends them within 2 s, a stopped one at its next start. A call that failed and waits for its next try is tried now, unchanged and with its attempts; a call that is under way is left. If a call may have arrived, all events of the call are sent again under the same key, discarded ones too.",
  arguments: { keys },
  options: { ...options, ...deadOptions },
  examples: [
    ["pigeonhole outbox retry <key>", "after the cause is fixed"],
    ["pigeonhole outbox retry --error contact_not_found --since 1d", "after the missing contacts were made"],
    ["pigeonhole outbox list --state retrying", "calls that wait: once the API is repaired, retry one key of each"],
  ],
});

export const outboxDiscard = defineCommand({
  name: "outbox discard",
  group,
  summary: "Discards contact events that are dead or not yet being sent.",
  details:
    "Name them by key, or choose dead ones by the options, which must all fit. Their keys stay in use. An event whose call may have arrived may have taken effect, and is sent again if another event of the call is retried.",
  arguments: { keys },
  options: { ...options, ...deadOptions },
  examples: [
    ["pigeonhole outbox discard <key> --yes", "without being asked"],
    ["pigeonhole outbox discard --state dead --until 30d", "contact events that have been dead for a month"],
  ],
});
