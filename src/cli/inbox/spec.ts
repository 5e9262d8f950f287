import { filterOptions } from "../../operator/filter-reader.js";
import { WORK_FILTERS } from "../../store/filters.js";
import { EVENT_STATES, FAILED_STATES } from "../../store/state-words.js";
import { defineCommand, type OptionSpec, withValue } from "../frame/spec.js";
import { databaseOption, limitOption, timeOptions } from "../values/options.js";
import { parseErrorGroup, parseWholeType, parseInterval } from "../values/parse-option.js";

const group = "Operate";

const options = { db: databaseOption };
const ids = { variadic: true, summary: "Ids of events." } as const;

/** Which work; the same for lists and changes, so that a list shows what a change would choose. */
const filters = filterOptions(WORK_FILTERS);
const workOptions = {
  ...filters,
  type: { ...filters.type, parse: parseWholeType },
  errorGroup: { ...filters.errorGroup, parse: parseErrorGroup },
} as const satisfies Record<string, OptionSpec>;

export const inboxList = defineCommand({
  name: "inbox list",
  group,
  summary: "Lists received events with the state of their work.",
  options: {
    ...options,
    state: withValue("state", "Only events that have work in this state, or with unhandled none.", {
      choices: EVENT_STATES,
    }),
    ...workOptions,
    limit: limitOption,
  },
  examples: [
    ["pigeonhole inbox list --state dead", "work that handlers have finally failed"],
    ["pigeonhole inbox list --error timeout --since 2h", "what inbox retry with these options would choose"],
  ],
});

export const inboxShow = defineCommand({
  name: "inbox show",
  group,
  summary:
    "Shows one event: each handler's state, its first and last error and its finished steps, contact events with what the API made of them, the time line, and the body.",
  details:
    "The service's attempts are not in the database: api webhooks.deliveries lists those of an endpoint. With --json, contact events have the fields of outbox list, and the body is a text.",
  arguments: { id: { summary: "Id of the event." } },
  options: { ...options, body: { summary: "Prints the exact bytes of the body and nothing else." } },
  examples: [["pigeonhole inbox show evt_1 --body > event.json", "the bytes as they were received"]],
});

export const inboxRetry = defineCommand({
  name: "inbox retry",
  group,
  summary: "Gives dead and parked work of events new attempts, and runs work now that waits for its next run.",
  details:
    "Name events, or choose work by the options, which must all fit. The receiver runs the work within seconds, or at its next start. Work that waits for its next run gets no new attempt: the run counts. Finished work stays done. An event that was not understood, or a named one that no handler got, is read again by the receiver with its present schemas and handlers; an event that is still not understood is parked with the reason.",
  arguments: { ids: { ...ids, optional: true } },
  options: {
    ...options,
    state: withValue("state", "Only work in this state, instead of named events.", {
      choices: ["dead", "parked", "retrying"],
    }),
    ...workOptions,
  },
  examples: [
    ["pigeonhole inbox retry evt_1 evt_2", "two events"],
    ["pigeonhole inbox retry --state parked", "after a schema was corrected or a handler added, and deployed"],
    ["pigeonhole inbox retry --handler billing --error timeout --since 2h", "after an outage is over"],
  ],
});

export const inboxDiscard = defineCommand({
  name: "inbox discard",
  group,
  summary: "Ends work of events without running it; their ids stay known.",
  details:
    "Of named events, all work that is not running ends. The options, which must all fit, choose dead or parked work only.",
  arguments: { ids: { ...ids, optional: true } },
  options: {
    ...options,
    state: withValue("state", "Only work in this state, instead of named events.", { choices: ["dead", "parked"] }),
    ...workOptions,
  },
  examples: [
    ["pigeonhole inbox discard evt_1 --yes", "without being asked"],
    ["pigeonhole inbox discard --state parked --error unknown_type", "of types that no handler will take"],
  ],
});

export const inboxErrors = defineCommand({
  name: "inbox errors",
  group,
  summary: "Gathers errors of unfinished work by handler, type, kind and message.",
  details:
    "Work that waits after a failure, runs again, is dead or parked is in the group of its last error. Numbers, ids, addresses and quoted texts in messages are left out. Lists, inbox retry and inbox discard take a group by --error-group. The group that failed last is first. FIRST is the time at which the first of the events was received. --json has counts per hour, of events by the time of their last failure.",
  options: {
    ...options,
    handler: workOptions.handler,
    type: workOptions.type,
    state: withValue("state", "Only work in this state.", { choices: FAILED_STATES }),
    ...timeOptions("work that failed last"),
    limit: { ...limitOption, summary: "Most groups." },
  },
  examples: [
    ["pigeonhole inbox errors --since 2h", "what has failed in the last two hours"],
    ["pigeonhole inbox errors --handler billing --json", "of one handler, with counts per hour"],
  ],
});

const handlerArgument = { handler: { summary: "Name of the handler." } } as const;

export const inboxPause = defineCommand({
  name: "inbox pause",
  group,
  summary: "Pauses a handler in all processes: its work waits.",
  details:
    "Each process follows within 2 seconds. Runs that have begun end as ever; deliveries are stored as ever. The pause outlives restarts, until inbox resume. An unknown name is paused too, as the handler may be new; a line then names the known handlers, and --json has isKnown and knownHandlers.",
  arguments: handlerArgument,
  options,
  examples: [["pigeonhole inbox pause billing", "while the billing API is being moved"]],
});

export const inboxResume = defineCommand({
  name: "inbox resume",
  group,
  summary: "Lets a paused handler run again.",
  arguments: handlerArgument,
  options,
  examples: [["pigeonhole inbox resume billing", "waiting work runs within seconds"]],
});

export const inboxPlan = defineCommand({
  name: "inbox plan",
  group,
  summary: "Gives stored events to a new handler.",
  details:
    "A job makes work of each event of the handler's types that has a body and that the handler never got, while nothing else of it is due. The dashboard shows, pauses and cancels the job. Test events are left out, and so are events that were not understood: inbox retry reads those again.",
  arguments: handlerArgument,
  options: {
    ...options,
    ...timeOptions("events received"),
    types: withValue("types", "Only these of its types, such as email.sent,form.*. Default: all.", {
      parse: (text: string) => text.split(",").map((type) => type.trim()),
    }),
    dryRun: { summary: "Counts, and changes nothing." },
  },
  examples: [
    ["pigeonhole inbox plan score@2 --since 30d --dry-run", "how many events there are"],
    ["pigeonhole inbox plan score@2 --since 30d", "the events of the last 30 days"],
  ],
});

export const inboxErase = defineCommand({
  name: "inbox erase",
  group,
  summary: "Erases what mentions an e-mail address: bodies, steps, contact events, captures.",
  details:
    "The receiver may be running. Ids and done marks stay, so nothing runs or is sent twice; work that waits ends without a run. Rows that are being handled or sent are left and counted: the command exits with 1 then, and can be run again. A capture file that cannot be read is named, with the same exit code. Copies, exports and other files are not reached: see docs/data.md.",
  options: {
    ...options,
    email: withValue("address", "The whole address, in any case. Required."),
    dryRun: { summary: "Counts, and changes nothing." },
  },
  examples: [
    ["pigeonhole inbox erase --email ann@example.com --dry-run", "how much there is"],
    ["pigeonhole inbox erase --email ann@example.com --yes", "without being asked"],
  ],
});

const runTimes = timeOptions("handler runs that ended");

export const inboxStats = defineCommand({
  name: "inbox stats",
  group,
  summary: "Says what the receiver does: its state, events and contact events by state, and how long handlers took.",
  details:
    "Running work is shown as the processes last reported it, up to 10 seconds ago. Times of handlers are kept for 8 days, in steps of ten minutes, as ranges such as 20 to 22 ms: half of the runs took less than the median, 95 % less than P95. Runs that are not over are left out. With --watch, Ctrl-C ends the command with 0.",
  options: {
    ...options,
    since: { ...runTimes.since, default: "24h" },
    until: runTimes.until,
    watch: withValue(
      "time",
      "Prints the figures again after each such time, 1s to 1h; on a terminal in the same place.",
      { parse: parseInterval, whenBare: "1s" },
    ),
  },
  examples: [
    ["pigeonhole inbox stats --json", "for a monitor"],
    ["pigeonhole inbox stats --since 1h --watch", "handlers of the last hour before the start, live"],
  ],
});

export const inboxBackup = defineCommand({
  name: "inbox backup",
  isRare: true,
  group,
  summary: "Writes a complete copy of the database, also while the receiver runs.",
  details:
    "The copy is one file of one moment, readable by you alone, with the same personal data as the database. The receiver does not wait for the copy.",
  arguments: { file: { summary: "The copy to write." } },
  options: { ...options, force: { summary: "Replaces an existing copy." } },
  examples: [["pigeonhole inbox backup inbox-backup.db", "read it with inbox stats --db inbox-backup.db"]],
});

export const inboxCopy = defineCommand({
  name: "inbox copy",
  isRare: true,
  group,
  summary: "Copies the inbox and the outbox of a SQLite file into a PostgreSQL.",
  details:
    "To move a receiver: stop it, copy, and start it with the store on PostgreSQL; the service sends again what it could not deliver meanwhile. Tables are made if they are missing. The file is not changed. Rows that are there already stay as they are, so an interrupted copy can be run again. Your own tables are not copied.",
  arguments: {
    from: { summary: "The receiver's SQLite file." },
    to: { summary: "The postgres:// URL of the database, or env:NAME of a variable with it." },
  },
  examples: [
    ["pigeonhole inbox copy pigeonhole.db env:DATABASE_URL", "into the database that the app uses from now on"],
  ],
});
