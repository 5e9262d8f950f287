import { add } from "./add/spec.js";
import { api } from "./api/spec.js";
import { type Command, command } from "./frame/context.js";
import * as captures from "./captures/spec.js";
import { dev } from "./dev/spec.js";
import { doctor } from "./doctor/spec.js";
import * as endpoints from "./endpoints/spec.js";
import { init } from "./init/spec.js";
import * as inbox from "./inbox/spec.js";
import * as outbox from "./outbox/spec.js";
import * as postgres from "./postgres/spec.js";
import { replay } from "./replay/spec.js";
import { test } from "./test/spec.js";
import { trigger } from "./trigger/spec.js";
import { sandbox } from "./sandbox/spec.js";

/** Summaries of the first words that have several subcommands. */
export const FAMILIES: Readonly<Record<string, string>> = {
  captures: "Manages captured deliveries.",
  endpoints: "Rotates secrets and repairs endpoints; api webhooks has the other calls.",
  inbox: "Manages received events in a receiver's database.",
  outbox: "Manages contact events that a receiver has recorded.",
  postgres: "Prepares a PostgreSQL for receivers.",
};

/** Every command, in the order of help. Code is loaded when a command is run. */
export const COMMANDS: readonly Command[] = [
  command(dev, async () => (await import("./dev/run.js")).run),
  command(replay, async () => (await import("./replay/run.js")).run),
  command(captures.capturesList, async () => (await import("./captures/run.js")).list),
  command(captures.capturesShow, async () => (await import("./captures/run.js")).show),
  command(captures.capturesExport, async () => (await import("./captures/export.js")).exportSelected),
  command(captures.capturesTypes, async () => (await import("./captures/export.js")).exportTypes),
  command(trigger, async () => (await import("./trigger/run.js")).run),
  command(sandbox, async () => (await import("./sandbox/run.js")).run),
  command(test, async () => (await import("./test/run.js")).run),
  command(inbox.inboxList, async () => (await import("./inbox/run.js")).list),
  command(inbox.inboxShow, async () => (await import("./inbox/run.js")).showInboxEvent),
  command(inbox.inboxRetry, async () => (await import("./inbox/stuck-work.js")).retryStuckWork),
  command(inbox.inboxErrors, async () => (await import("./inbox/run.js")).errors),
  command(inbox.inboxPause, async () => (await import("./inbox/handlers.js")).pauseNamedHandler),
  command(inbox.inboxResume, async () => (await import("./inbox/handlers.js")).resumeNamedHandler),
  command(inbox.inboxPlan, async () => (await import("./inbox/handlers.js")).planForHandler),
  command(inbox.inboxDiscard, async () => (await import("./inbox/stuck-work.js")).discardStuckWork),
  command(inbox.inboxErase, async () => (await import("./inbox/erase.js")).eraseFromInbox),
  command(inbox.inboxStats, async () => (await import("./inbox/stats.js")).stats),
  command(inbox.inboxBackup, async () => (await import("./inbox/copy.js")).backupInbox),
  command(inbox.inboxCopy, async () => (await import("./inbox/copy.js")).copyInboxTo),
  command(outbox.outboxList, async () => (await import("./outbox/run.js")).list),
  command(outbox.outboxShow, async () => (await import("./outbox/run.js")).show),
  command(outbox.outboxRetry, async () => (await import("./outbox/run.js")).retryContactEvents),
  command(outbox.outboxDiscard, async () => (await import("./outbox/run.js")).discardContactEvents),
  command(endpoints.endpointsRotateSecret, async () => (await import("./endpoints/run.js")).rotate),
  command(endpoints.endpointsRepair, async () => (await import("./endpoints/run.js")).repair),
  command(api, async () => (await import("./api/run.js")).run),
  command(init, async () => (await import("./init/run.js")).run),
  command(add, async () => (await import("./add/run.js")).run),
  command(postgres.postgresSchema, async () => (await import("./postgres/run.js")).printSchema),
  command(doctor, async () => (await import("./doctor/run.js")).run),
];
