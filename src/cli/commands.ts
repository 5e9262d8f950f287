import { type Command, command } from "./frame/context.js";
import * as captures from "./specs/captures.js";
import { completion } from "./specs/completion.js";
import { dev } from "./specs/dev.js";
import { doctor } from "./specs/doctor.js";
import * as endpoints from "./specs/endpoints.js";
import { add, init } from "./specs/init.js";
import * as inbox from "./specs/inbox.js";
import * as outbox from "./specs/outbox.js";
import { replay } from "./specs/replay.js";
import { test } from "./specs/test.js";
import { trigger } from "./specs/trigger.js";
import { verify } from "./specs/verify.js";
import { sandbox } from "./specs/sandbox.js";
import { sign } from "./specs/sign.js";

/** Summaries of the first words that have several subcommands. */
export const FAMILIES: Readonly<Record<string, string>> = {
  captures: "Looks after captured deliveries.",
  endpoints: "Manages webhook endpoints through the API.",
  inbox: "Manages received events in a receiver's database.",
  outbox: "Manages contact events that a receiver has recorded.",
};

/** Every command, in the order of help. Code is loaded when a command is run. */
export const COMMANDS: readonly Command[] = [
  command(dev, async () => (await import("./commands/dev.js")).run),
  command(replay, async () => (await import("./commands/replay.js")).run),
  command(captures.capturesList, async () => (await import("./commands/captures.js")).list),
  command(captures.capturesShow, async () => (await import("./commands/captures.js")).show),
  command(captures.capturesExport, async () => (await import("./commands/captures-exchange.js")).exportSelected),
  command(captures.capturesImport, async () => (await import("./commands/captures-exchange.js")).importFiles),
  command(captures.capturesTypes, async () => (await import("./commands/captures-types.js")).run),
  command(captures.capturesRemove, async () => (await import("./commands/captures.js")).remove),
  command(trigger, async () => (await import("./commands/trigger.js")).run),
  command(sandbox, async () => (await import("./commands/sandbox.js")).run),
  command(test, async () => (await import("./commands/test.js")).run),
  command(verify, async () => (await import("./commands/verify.js")).run),
  command(sign, async () => (await import("./commands/sign.js")).run),
  command(inbox.inboxList, async () => (await import("./commands/inbox.js")).list),
  command(inbox.inboxShow, async () => (await import("./commands/inbox.js")).show),
  command(inbox.inboxRetry, async () => (await import("./commands/inbox.js")).retry),
  command(inbox.inboxDiscard, async () => (await import("./commands/inbox.js")).discard),
  command(inbox.inboxStats, async () => (await import("./commands/inbox.js")).stats),
  command(inbox.inboxBackup, async () => (await import("./commands/inbox-backup.js")).run),
  command(inbox.inboxExport, async () => (await import("./commands/inbox-export.js")).run),
  command(outbox.outboxList, async () => (await import("./commands/outbox.js")).list),
  command(outbox.outboxShow, async () => (await import("./commands/outbox.js")).show),
  command(outbox.outboxRetry, async () => (await import("./commands/outbox.js")).retry),
  command(outbox.outboxDiscard, async () => (await import("./commands/outbox.js")).discard),
  command(outbox.outboxStats, async () => (await import("./commands/outbox.js")).stats),
  command(endpoints.endpointsList, async () => (await import("./commands/endpoints.js")).list),
  command(endpoints.endpointsCreate, async () => (await import("./commands/endpoints.js")).create),
  command(endpoints.endpointsUpdate, async () => (await import("./commands/endpoints.js")).update),
  command(endpoints.endpointsRotateSecret, async () => (await import("./commands/endpoints.js")).rotate),
  command(endpoints.endpointsDelete, async () => (await import("./commands/endpoints.js")).remove),
  command(endpoints.endpointsTest, async () => (await import("./commands/endpoints.js")).test),
  command(endpoints.endpointsDeliveries, async () => (await import("./commands/endpoints.js")).deliveries),
  command(init, async () => (await import("./commands/init.js")).run),
  command(add, async () => (await import("./commands/add.js")).run),
  command(doctor, async () => (await import("./commands/doctor.js")).run),
  command(completion, async () => (await import("./commands/completion.js")).run),
];
