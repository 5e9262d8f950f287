/** `messaging.system` of all that is reported. */
export const SYSTEM = "pigeonhole";

/** One metric as OpenTelemetry gets it. */
export interface Metric {
  readonly name: string;
  readonly instrument: "counter" | "histogram" | "gauge";
  /** In UCUM; what is in braces is only said to people. */
  readonly unit: string;
  readonly description: string;
  /** Names of its attributes, in the order of their use. */
  readonly attributes: readonly string[];
}

/** Deliveries that were answered. Its name is of the semantic conventions for messaging. */
export const CONSUMED_MESSAGES = {
  name: "messaging.client.consumed.messages",
  instrument: "counter",
  unit: "{message}",
  description: "Deliveries answered, by outcome.",
  attributes: ["messaging.system", "messaging.operation.name", "pigeonhole.outcome", "error.type", "pigeonhole.source"],
} as const satisfies Metric;

/** Runs of handlers. Its name is of the semantic conventions for messaging. */
export const PROCESS_DURATION = {
  name: "messaging.process.duration",
  instrument: "histogram",
  unit: "s",
  description: "Handler run and settlement.",
  attributes: [
    "messaging.system",
    "messaging.operation.name",
    "messaging.destination.name",
    "messaging.consumer.group.name",
    "pigeonhole.outcome",
    "error.type",
  ],
} as const satisfies Metric;

/** The conventions only time what a client begins; a delivery is begun by the service. */
export const DELIVERY_DURATION = {
  name: "pigeonhole.delivery.duration",
  instrument: "histogram",
  unit: "s",
  description: "From the whole body to the answer, the commit included.",
  attributes: ["pigeonhole.outcome"],
} as const satisfies Metric;

/** The conventions have no gauges. */
export const GAUGES = {
  storeUp: gauge("store.up", "", "1 while the store can be counted, 0 when it could not for 3 minutes."),
  backlogDepth: gauge("backlog.depth", "{work}", "Work that waits or runs."),
  backlogAgeSeconds: gauge("backlog.age", "s", "Age of the oldest event with such work."),
  backlogLagSeconds: gauge(
    "backlog.lag",
    "s",
    "How long the oldest due work waits for its run, that of paused handlers left out.",
  ),
  workDead: gauge("work.dead", "{work}", "Work that was given up."),
  workParked: gauge("work.parked", "{work}", "Work that waits for a schema or a handler."),
  handlersPaused: gauge("handlers.paused", "{handler}", "Handlers that a person has paused."),
  outboxDepth: gauge("outbox.depth", "{event}", "Contact events that wait or are being sent."),
  outboxAgeSeconds: gauge("outbox.age", "s", "Age of the oldest of them."),
  outboxDead: gauge("outbox.dead", "{event}", "Contact events that were given up."),
  diskUsedBytes: gauge("disk.used", "By", "Size of the store, where it is known."),
  diskFreeBytes: gauge("disk.free", "By", "Free space on its disk, where it is known."),
  failuresInARow: gauge("failures_in_a_row", "{delivery}", "Answers other than 2xx in a row, of this process."),
  silenceSeconds: gauge("silence", "s", "Since this process last stored a delivery, or else since it started."),
} as const;

/** What one process knows about its store and its endpoint at one moment; undefined is not reported. */
export type Levels = Record<keyof typeof GAUGES, number | undefined>;

/** All of them. */
export const METRICS: readonly Metric[] = [
  CONSUMED_MESSAGES,
  PROCESS_DURATION,
  DELIVERY_DURATION,
  ...Object.values(GAUGES),
];

function gauge(name: string, unit: string, description: string): Metric {
  return { name: `pigeonhole.${name}`, instrument: "gauge", unit, description, attributes: [] };
}
