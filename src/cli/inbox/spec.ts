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
    "The service's attempts are not in the database: api webhooks.deliveries lists those of an endpoint. With --json, they have the fields of outbox list, and the body is a text.",
  arguments: { id: { summary: "Id of the event." } },
  options: { ...options, body: { summary: "Prints the exact bytes of the body and nothing else." } },
  examples: [["pigeonhole inbox show evt_1 --body > event.json", "the bytes as they were received"]],
});

export const inboxRetry = defineCommand({
  name: "inbox retry",
  group,
  summary: "Gives dead and parked work of events new attempts, and runs work now that waits for its next run.",
  details:
    "Name events, or choose work by the options, which must all fit. The receiver runs it within seconds, or when it next starts. Work that waits keeps its attempts: it gets no new one, and the run counts. What is done stays done. An event that was not understood, or a named one that no handler got, is read again by the receiver, with its schemas and handlers of then; if it is not understood then, it is parked with the reason.",
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
    "Of named events all work ends that is not running. Chosen by the options, which must all fit, only work ends that is dead or parked.",
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
    "Work that waits after a failure, runs again, is dead or parked is in the group of its last error. Numbers, ids, addresses and quoted texts in messages are left out. Lists, inbox retry and inbox discard take a group by --error-group. The group that failed last is first. FIRST is when the first of the events was received. The counts per hour of --json are of events by when they failed last.",
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
    "Each process follows within 2 seconds. Runs that have begun end as ever; deliveries are stored as ever. The pause outlives restarts, until inbox resume. A name that no receiver of this inbox had and no work has is paused too, as the handler may be new; a line names the known ones, and --json has isKnown and knownHandlers.",
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
  examples: [["pigeonhole inbox resume billing", "what has waited runs within seconds"]],
});

export const inboxPlan = defineCommand({
  name: "inbox plan",
  group,
  summary: "Gives stored events to a new handler.",
  details:
    "A job makes work of each event of the handler's types that has a body and that the handler never got, while nothing else of it is due. The dashboard shows, pauses and cancels the job. Test events are left out, and those that were not understood, which inbox retry reads again.",
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
    "The receiver may be running. Ids and done marks stay, so nothing runs or is sent twice; work that waits ends without a run. What is being handled or sent is left and counted: exits with 1 then, and the command can be run again. A capture file that cannot be read is named, with the same exit code. Copies, exports and other files are not reached: see docs/data.md.",
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
    "What runs now is as the processes last reported, up to 10 seconds ago. Times of handlers are kept for 8 days, in steps of ten minutes. Each is known by the range that it is in, such as 20 to 22 ms: half of the runs took less than the median, 95 % less than P95. A run that is not over is not among them. With --watch, Ctrl-C ends it with 0.",
  options: {
    ...options,
    since: { ...runTimes.since, default: "24h" },
    until: runTimes.until,
    watch: withValue(
      "time",
      "Prints them again and again, in this time from 1s to 1h; on a terminal in the same place.",
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
    "The copy is one file, readable by you alone, and contains the same personal data as the database. It shows the database at one moment, and the receiver does not wait for it.",
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
    "To move a receiver: stop it, copy, and start it with the store on PostgreSQL; the service sends again what it could not deliver meanwhile. Tables are made if they are missing. The file is not changed. What is there already stays as it is, so a copy that was interrupted can be run again. Your own tables are not copied.",
  arguments: {
    from: { summary: "The receiver's SQLite file." },
    to: { summary: "The postgres:// URL of the database, or env:NAME of a variable with it." },
  },
  examples: [
    ["pigeonhole inbox copy pigeonhole.db env:DATABASE_URL", "into the database that the app uses from now on"],
  ],
});
