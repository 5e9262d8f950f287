import { ERROR_CODES, type ErrorCode } from "pigeonhole";
import { ALARMS, type Alarm } from "#pigeonhole/receiver/alarm-table.js";

// The tables of docs/troubleshooting.md. A test compares LOG_MESSAGES with the calls in src/; the compiler knows
// the codes and the alarms.

interface Remedy {
  /** Missing where the name says everything. */
  cause?: string;
  /** Missing where a person does nothing. */
  remedy?: string;
}

/** Every message that the package logs, but for the alarms. */
export const LOG_MESSAGES: Readonly<Record<string, Remedy>> = {
  another_process_runs_handlers_on_this_store: {
    cause: "A second process opened the file. It accepts deliveries; the first one runs the handlers.",
    remedy: "Outside of a deploy, end one of the two.",
  },
  alarm: { cause: "A problem that needs you: `alarm` says which.", remedy: "See [alarms](#alarms)." },
  alarm_over: { cause: "A problem is over that an `alarm` line said: `alarm` is its kind." },
  alarm_hook_threw: { cause: "Your `onAlarm` threw or rejected.", remedy: "Catch errors in `onAlarm`." },
  api_key_changed: {},
  api_call_retried: {},
  clock_was_ahead: {
    cause: "The clock was set back; `waits` due times that were too late are corrected.",
    remedy: "Synchronise the clock (NTP).",
  },
  contact_event_dead: {
    cause: "The API refused `events` contact events for good.",
    remedy: "The command in the field `advice` shows the reason.",
  },
  contact_event_too_old: {
    cause: "The API refused the time of a contact event, after a try whose outcome is not known.",
    remedy: "Look at the `send_failed` lines before it, then retry or discard it.",
  },
  counts_failed: {
    cause: "The database did not answer a count. Alarms that need it, such as `work_dead`, come later.",
  },
  dashboard_action: {
    cause: "A person, `by`, did something on the dashboard, or saw personal data there: `action`.",
  },
  dashboard_allow_answer_unusable: {
    cause: "Your `allow` returned neither a person nor nothing; nobody was let in.",
    remedy: "Return `{ role, name }` with the role `read` or `operate`, or nothing.",
  },
  dashboard_allow_late: {
    cause: "Your `allow` did not answer within 10 s; nobody was let in.",
    remedy: "See what it waits for: usually the login or its database.",
  },
  dashboard_allow_failed: {
    cause: "Your `allow` threw or rejected; nobody was let in.",
    remedy: "Correct the place that the line names. Return nothing for a person who is not let in.",
  },
  dashboard_failed: {},
  dashboard_figures_unreadable: {
    cause: "Stored rows of the dashboard's plots cannot be read.",
    remedy: "Look for what wrote in the database.",
  },
  dashboard_job_interrupted: { cause: "A page of a job of the dashboard failed." },
  dashboard_origin_refused: {
    cause:
      "An action was answered 403, since its `page` is not where the `dashboard` seems to be: a proxy changes the host, the option `origin` is wrong, or it is a page of others.",
    remedy: "If you open the dashboard at `page`, give that as the option `origin`.",
  },
  files_were_open_to_others: {
    cause: "Files of the database could be read by other users before this start.",
    remedy: "Follow the `advice` of the line.",
  },
  events_repaired: {
    cause: "A round of the option `repair`, if events may be missing.",
    remedy: "See `events_missed`.",
  },
  figures_not_kept: {
    cause: "Figures for the plots of the dashboard could not be written. They go with the next write.",
  },
  final_answer: {
    cause: "A request with a signature got an answer after which the service does not send it again.",
    remedy: "See the alarm [`final_answer`](#alarms).",
  },
  handler_dead: {
    cause: "A handler failed for the last time, or its failure cannot succeed later (`reason`).",
    remedy: "Correct the handler, then `npx pigeonhole inbox retry <event>`.",
  },
  handler_failed: {
    cause: "A handler threw or timed out. It runs again at `dueAt`.",
    remedy: "Not to wait: `npx pigeonhole inbox retry <event>`.",
  },
  handler_paused: {
    cause: "A person, `by`, has paused the handler in all processes. Logged every 6 hours.",
    remedy: "Run `npx pigeonhole inbox resume <handler>` once its work may go on.",
  },
  handler_queue_failed: {
    cause:
      "The database did not give a handler its work, its key or the times of its rate; that is tried again. Or your `key` function threw: the event runs without a key, and `only` does not hold for it.",
    remedy: "Correct `key`, if the error is of it.",
  },
  handler_resumed: {},
  handler_waits: { cause: "A handler asked to wait, or the service asked its client. It runs again at `dueAt`." },
  lease_lost: {
    cause:
      "A handler ended after its lease: the process stood still, its clock jumped, or it was without its PostgreSQL for 15 s. Nothing of that run was written; the work runs again.",
    remedy: "If it is frequent, look for code that blocks the event loop.",
  },
  maintenance_failed: {
    cause: "Leases could not be renewed or the search for dead processes failed.",
  },
  maintenance_works_again: {},
  not_started: {
    cause: "Deliveries come before `receiver.start()`; they are answered 503.",
    remedy: "Call `await receiver.start()` before the server listens.",
  },
  other_bytes: {
    cause: "The service sent other bytes under a known id. `kept` says whether they are stored.",
    remedy: "Report it to the service.",
  },
  outbox_failed: {},
  outbox_settle_waits: { cause: "The result of an API call could not be written yet." },
  parked: {
    cause: "An event was stored and no handler can run it: `reason` says why.",
    remedy: "Correct the schema or add the handler, deploy, then `npx pigeonhole inbox retry --state parked`.",
  },
  parked_events_read_again: {
    cause: "A retry of `events` was requested from outside; `pending` handlers run, `stillParked` are parked again.",
    remedy: "For those still parked, `npx pigeonhole inbox list --state parked` has the reasons.",
  },
  policies_not_kept: {
    cause: "The handlers' `maxAttempts` could not be written. Only the display of their work lacks it.",
  },
  prune_failed: {},
  receive_failed: {
    cause: "The receiver itself failed on a delivery, which was answered 503.",
    remedy: "Report it with the line's `error` and `at`.",
  },
  recovered_work_of_a_dead_process: {
    cause: "A process ended while handlers ran. Their work runs again; `parked` pieces had this four times.",
    remedy: "If you did not end it, look for the crash.",
  },
  run_interrupted: {
    cause: "The store failed while a handler ran, so the run [does not count](handlers.md#failures).",
    remedy: "If it continues, see the code of the error below, and whether the handler holds what it waits for.",
  },
  repair_failed: {
    cause: "A round of the option `repair` failed; the next one tries again.",
    remedy: "Look at its error.",
  },
  requested_retries_failed: { cause: "A retry that was requested from outside could not be read." },
  reopen_failed: {
    cause:
      "The files of the database are back, and could not be opened again, or your `setup` threw. It is tried again.",
    remedy: "Look at its error. Deliveries are answered 503 until then.",
  },
  release_failed: {
    cause: "Leased work that has not begun, or was interrupted, could not be given back.",
    remedy: "After a stop, the next start finds the work.",
  },
  secret_without_whsec_prefix: {
    cause: "A secret does not begin with `whsec_`.",
    remedy: "Copy the whole string that the service shows.",
  },
  secrets_changed: {},
  secrets_late: {
    cause: "Your `secrets` function did not answer in time.",
    remedy: "Cache the secrets, or make it faster.",
  },
  secrets_not_read: { cause: "Your `secrets` function failed.", remedy: "Look at its error." },
  send_failed: {
    cause: "A call of the outbox failed. It is repeated after `waitMs`; `advice` shows it.",
  },
  settle_failed: {
    cause:
      "The result of a run could not be written yet. The write is tried again; if the process ends before, the work runs again.",
  },
  test_event: { cause: "The service sent its test delivery, and no handler takes test events." },
  times_not_kept: {
    cause: "The times that confirm the clock could not be written, so old data may be kept for longer.",
  },
  waits_not_restarted: {
    cause: "The clock was set back, and due times that are too late could not be corrected yet. It is tried again.",
  },
  work_waits_for_a_handler_that_is_not_registered: {
    cause: "The database has work for a handler name that this process does not register.",
    remedy: "Register it under that name, or discard the work.",
  },
};

/** What to do about errors whose cause does not say it already. */
const REMEDIES: Readonly<Partial<Record<ErrorCode, string>>> = {
  invalid_secret: "Copy the whole secret with `whsec_` from the service.",
  already_started: "Register handlers before `start()`.",
  duplicate_handler: "Give one of them another `name`.",
  schema_too_new: "Install the newer version of pigeonhole again.",
  schema_too_old:
    "Let an administrator run the SQL that `npx pigeonhole postgres schema` prints; for a command, start the receiver with this version once.",
  not_a_pigeonhole_database: "Give `store` another path, or another schema.",
  store_not_durable: "Keep the file on a local file system; on PostgreSQL, change the setting that the message names.",
  sqlite_too_old: "Update better-sqlite3.",
  store_busy:
    "End the other program that locks the file, or the long transaction on PostgreSQL; look at the load of the disk. A handler must not hold a lock or a transaction of its own while it awaits `ctx.step` or `ctx.commit`.",
  store_corrupt: "Stop the receiver, keep what is there, and start from the last copy.",
  store_replaced:
    "Put the files back, or restart the process; open them with no other SQLite. See [the store's files](data.md#the-stores-files).",
  store_unreachable: "It is used again as soon as it answers.",
  store_not_primary: "Connect to the primary.",
  lease_lost: "The work runs again.",
  commit_twice: "Write everything in one `ctx.commit`.",
  commit_async: "Do the asynchronous part before, and only write inside.",
  transaction_ended:
    "Leave out BEGIN, COMMIT, ROLLBACK and OR ROLLBACK; throw the error of a statement that failed; wait before `ctx.commit`, not in it.",
  transaction_closed: "Use `db` or `client` inside the function only, and await what it returns.",
  duplicate_step: "Give each step of a run a name of its own.",
  step_not_json: "Return plain data, or less of it.",
  handler_timeout: "Make the handler faster, or raise `timeoutMs`.",
  run_ended: "Await everything in the handler before it returns.",
  body_dropped: "Raise `retention.bodiesMs` for the next ones.",
  port_in_use: "Give another `--port`, or end the other program.",
  no_answer: "Check `baseUrl` and the network. Calls with an idempotency key may be repeated.",
  invalid_answer: "Check that `baseUrl` leads to the API.",
  answer_too_large: "Ask for smaller pages, or raise `maxAnswerBytes`.",
  redirect_refused: "Set `baseUrl` to the final address.",
  api_key_lost: "See [rotating an API key](secrets.md#rotating-an-api-key).",
  key_conflict: "Give each contact event a `key` of its own.",
  captures_failed: "Correct the handler, or take over the answers with `--update`.",
};

/** What each alarm means, where its advice does not say it. */
const MEANINGS: Readonly<Partial<Record<Alarm["kind"], string>>> = {
  signature_mismatches: "Well-formed signatures, several in a row, match none of your secrets.",
  signature_unreadable:
    "A signature header cannot be read, or there is a timestamp header without it; the alarm has their shape, never a value.",
  final_answer: "A request with a signature got 401, 405, 413 or 415.",
  older_secret_matched: "Only an older secret of the list matches.",
  clock_skew:
    "Genuine signatures are outside the time window, or the clock is more than a day ahead of the time that has certainly passed.",
  failures_in_a_row: "Answers other than 2xx in a row.",
  events_missed: "The last round of the option `repair` found events missing, or could not look for them.",
  silence: "Nothing was accepted for `silenceAfterMs`.",
  work_dead: "Handlers gave up.",
  work_parked: "Deliveries do not fit a schema, are not understood, or have a type that nothing takes.",
  crash_loop: "The process died four times in some work, which was parked.",
  backlog: "Work, except that of paused handlers, has been due for longer than `backlogAfterMs`.",
  handler_missing: "Work waits for handlers that this process does not have.",
  contact_events_dead: "Contact events were refused or grew too old.",
  contact_events_stuck: "A contact event has not been sent for `backlogAfterMs`.",
  deliveries_overdue: "The store did not accept a delivery in time; see [slow disk](data.md#disk-errors).",
  store_unavailable: "The store did not accept a delivery; `code` says why.",
  wal_blocked: "A reader keeps the WAL from being emptied: it is over 64 MiB and grows.",
  checkpoint_failed: "The WAL is over 64 MiB and cannot be moved into the database file.",
  api_refused: "The API refuses the key, the scope or the address.",
};

/** The page says this once. */
const SENT_AGAIN = /Deliveries[\w ]* are answered 503 meanwhile, so the service sends them again\./;

const table = (head: string, rows: readonly (readonly [name: string, ...words: (string | undefined)[]])[]): string =>
  [
    `| ${head} | |`,
    "|---|---|",
    ...rows.map(([name, ...words]) => `| \`${name}\` | ${words.filter(Boolean).join(" ")} |`),
  ].join("\n");

export const alarmTable = (): string =>
  table(
    "alarm",
    Object.entries(ALARMS).map(([kind, { advice }]) => [
      kind,
      MEANINGS[kind as Alarm["kind"]],
      advice.replace(SENT_AGAIN, "").trim(),
    ]),
  );

/** The names of those that say everything, too. */
export const logTable = (): string => {
  const messages = Object.entries(LOG_MESSAGES);
  const told = messages.filter(([, { cause }]) => cause !== undefined);
  const others = messages.filter(([, { cause }]) => cause === undefined).map(([message]) => `\`${message}\``);
  const rows = told.map(([message, { cause, remedy }]) => [message, cause, remedy] as const);
  return `${table("message", rows)}\n\nThe name says everything: ${others.join(", ")}.`;
};

/** The codes with something to do, and the names of those whose message says everything. */
export const errorTable = (): string => {
  const rows = Object.entries(ERROR_CODES).map(([code, cause]) => [code, cause, REMEDIES[code as ErrorCode]] as const);
  const others = rows.filter(([, , remedy]) => remedy === undefined).map(([code]) => `\`${code}\``);
  const told = table(
    "code",
    rows.filter(([, , remedy]) => remedy !== undefined),
  );
  return `${told}\n\nThe message says everything: ${others.join(", ")}.`;
};
