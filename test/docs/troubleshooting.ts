import { ERROR_CODES, type ErrorCode } from "pigeonhole";
import { ALARMS } from "#pigeonhole/receiver/alarm-table.js";

// The tables of docs/troubleshooting.md. A test compares LOG_MESSAGES with the calls in src/; the compiler compares
// REMEDIES with the codes.

interface Remedy {
  cause: string;
  remedy: string;
}

const NOTHING = "Nothing.";
const RETRIED = "Nothing; it is tried again.";
const BY_ITSELF = "If it continues, see the code of the error below.";

/** Every message that the package logs, but for the alarms. */
export const LOG_MESSAGES: Readonly<Record<string, Remedy>> = {
  another_process_runs_handlers_on_this_store: {
    cause: "A second process opened the file. It accepts deliveries; the first one runs the handlers.",
    remedy: "Nothing during a deploy. Otherwise end one of the two.",
  },
  alarm: { cause: "A problem that needs you: `alarm` says which.", remedy: "See [alarms](#alarms)." },
  alarm_over: { cause: "A problem is over that an `alarm` line said: `alarm` is its kind.", remedy: NOTHING },
  alarm_hook_threw: { cause: "Your `onAlarm` threw or rejected.", remedy: "Catch errors in `onAlarm`." },
  api_key_changed: {
    cause: "Your `apiKey` function returned another key; the call was sent with it.",
    remedy: NOTHING,
  },
  api_call_retried: { cause: "An API call failed, and may be repeated.", remedy: RETRIED },
  clock_confirmed: { cause: "A delivery or the API confirmed the clock after a jump.", remedy: NOTHING },
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
  counts_failed: { cause: "The database did not answer a count.", remedy: BY_ITSELF },
  dashboard_action: {
    cause:
      "A person did something on the dashboard, or saw personal data there: `action` says what, `by` is the name that `allow` gave.",
    remedy: NOTHING,
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
    cause:
      "Your `allow` threw or rejected; nobody was let in. The line has the error and its place, and with `logErrorMessages` its message.",
    remedy: "Correct that place. Return nothing for a person who is not let in.",
  },
  dashboard_failed: { cause: "A request of the dashboard failed.", remedy: BY_ITSELF },
  dashboard_figures_unreadable: {
    cause: "Stored rows of the dashboard's plots cannot be read.",
    remedy:
      "Nothing; the plots leave these rows out, which are dropped with their age. Look for what wrote in the database.",
  },
  dashboard_job_interrupted: { cause: "A page of a job of the dashboard failed.", remedy: RETRIED },
  dashboard_origin_refused: {
    cause:
      "An action on the dashboard was answered 403, since its `page` is not where the `dashboard` seems to be: a proxy changes the host, the option `origin` is wrong, or it is a page of others. Logged at most once a minute.",
    remedy: "If `page` is where you open the dashboard, give `createDashboard` that as the option `origin`.",
  },
  files_were_open_to_others: {
    cause: "Files of the database could be read by other users before this start.",
    remedy: "Follow the `advice` of the line.",
  },
  figures_not_kept: {
    cause:
      "What happened in the last seconds could not be written for the plots of the dashboard. It goes with the next write. Not logged again until a write has succeeded.",
    remedy: NOTHING,
  },
  final_answer: {
    cause: "A request with a signature got an answer after which the service does not send it again.",
    remedy: "See the alarm [`final_answer`](#alarms).",
  },
  final_answer_suppressed: { cause: "More than ten such lines came within a minute.", remedy: "See `final_answer`." },
  handler_dead: {
    cause: "A handler failed for the last time, or its failure cannot succeed later (`reason`).",
    remedy: "Correct the handler, then `npx pigeonhole inbox retry <event>`.",
  },
  handler_failed: {
    cause: "A handler threw or timed out. It runs again at `dueAt`.",
    remedy: "Nothing; it is tried again. Not to wait: `npx pigeonhole inbox retry <event>`.",
  },
  handler_paused: {
    cause:
      "A person, `by`, has paused the handler in all processes: its work waits. Logged again every 6 hours until it is resumed.",
    remedy: "Run `npx pigeonhole inbox resume <handler>` once its work may go on.",
  },
  handler_queue_failed: { cause: "Work could not be read from the database.", remedy: BY_ITSELF },
  handler_resumed: { cause: "A person has resumed a paused handler.", remedy: NOTHING },
  lease_lost: {
    cause:
      "A handler ended after its lease: the process stood still, its clock jumped, or it was without its PostgreSQL for 15 s. Nothing of that run was written.",
    remedy: "Nothing; the work runs again. If it is frequent, look for code that blocks the event loop.",
  },
  maintenance_failed: {
    cause:
      "Leases could not be renewed or the search for dead processes failed. Not logged again until `maintenance_works_again`.",
    remedy: BY_ITSELF,
  },
  maintenance_works_again: { cause: "The failure of `maintenance_failed` is over.", remedy: NOTHING },
  not_started: {
    cause: "Deliveries come before `receiver.start()`; they are answered 503.",
    remedy: "Call `await receiver.start()` before the server listens.",
  },
  other_bytes: {
    cause: "The service sent other bytes under a known id. `kept` says whether they are stored too.",
    remedy: "Report it to the service.",
  },
  outbox_failed: { cause: "The outbox could not be read from the database.", remedy: BY_ITSELF },
  outbox_settle_waits: { cause: "The result of an API call could not be written yet.", remedy: RETRIED },
  parked: {
    cause: "An event was stored and no handler can run it: `reason` says why.",
    remedy: "Correct the schema or add the handler, deploy, then `npx pigeonhole inbox retry --state parked`.",
  },
  parked_events_match_a_handler_now: {
    cause: "At the start: `events` parked events have a handler and a schema that fits now.",
    remedy:
      "Run the `command` of the line, or set `retryParkedAtStart`. On PostgreSQL the command has no URL: run it where `DATABASE_URL` is set, or add `--db`.",
  },
  parked_events_read_again: {
    cause: "A retry of `events` was requested from outside; `pending` handlers run, `stillParked` are parked again.",
    remedy: "For those still parked, `npx pigeonhole inbox list --state parked` has the reasons.",
  },
  policies_not_kept: {
    cause: "The handlers' `maxAttempts` could not be written. Only the display of their work lacks it.",
    remedy: NOTHING,
  },
  prune_failed: { cause: "Old ids and bodies could not be removed.", remedy: BY_ITSELF },
  receive_failed: {
    cause: "The receiver itself failed on a delivery, which was answered 503.",
    remedy: "Report it with the line's `error` and `at`.",
  },
  recovered_work_of_a_dead_process: {
    cause: "A process ended while handlers ran. Their work runs again; `parked` pieces had this four times.",
    remedy: "If you did not end it, look for the crash.",
  },
  run_interrupted: {
    cause:
      "The store could not be reached, was busy or full while a handler ran, so the run does not count. No other run of the handler begins until the store answers. The third run in a row for one event counts as failed.",
    remedy:
      "Nothing; the work runs again. If it continues, see the code of the error below, and whether the handler holds what it waits for.",
  },
  requested_retries_failed: { cause: "A retry that was requested from outside could not be read.", remedy: BY_ITSELF },
  reopen_failed: {
    cause:
      "The files of the database are back, and could not be opened again, or your `setup` threw. It is tried again.",
    remedy: "Look at its error. Deliveries are answered 503 until then.",
  },
  release_failed: {
    cause: "Leased work that has not begun, or was interrupted, could not be given back.",
    remedy: "Nothing; it is tried again. After a stop, the next start finds the work.",
  },
  secret_without_whsec_prefix: {
    cause: "A secret does not begin with `whsec_`.",
    remedy: "Copy the whole string that the service shows.",
  },
  secrets_changed: { cause: "Your `secrets` function returned other secrets.", remedy: NOTHING },
  secrets_late: {
    cause: "Your `secrets` function did not answer in time.",
    remedy: "Cache the secrets, or make it faster.",
  },
  secrets_not_read: { cause: "Your `secrets` function failed.", remedy: "Look at its error." },
  send_failed: {
    cause: "A call of the outbox failed. It is repeated after `waitMs`; `advice` shows it.",
    remedy: RETRIED,
  },
  settle_failed: { cause: "The result of a handler could not be written yet.", remedy: BY_ITSELF },
  test_event: { cause: "The service sent its test delivery, and no handler takes test events.", remedy: NOTHING },
  times_not_kept: { cause: "The known times could not be written at the stop.", remedy: NOTHING },
  waits_not_restarted: { cause: "Due times could not be corrected after the clock was set back.", remedy: BY_ITSELF },
  work_waits_for_a_handler_that_is_not_registered: {
    cause: "The database has work for a handler name that this process does not register.",
    remedy: "Register it under that name, or discard the work.",
  },
};

const READ = "Read the message: it names what and why.";
const DATABASE_CODE = "Look at the code in the message: disk, permissions, file system, rights, the server's log.";

/** What to do about each error. */
const REMEDIES: Readonly<Record<ErrorCode, string>> = {
  invalid_option: "Correct the option that the message names.",
  invalid_secret: "Copy the whole secret with `whsec_` from the service.",
  invalid_argument: READ,
  already_started: "Register handlers before `start()`.",
  duplicate_handler: "Give one of them another `name`.",
  stopped: "Start the receiver, or do not use it after `stop()`.",
  schema_too_new: "Install the newer version of pigeonhole again.",
  schema_too_old:
    "Let an administrator run the SQL that `npx pigeonhole postgres schema` prints; for a command, start the receiver with this version once.",
  not_a_pigeonhole_database: "Give `store` another path, or another schema.",
  store_not_durable: "Keep the file on a local file system; on PostgreSQL, change the setting that the message names.",
  sqlite_too_old: "Update better-sqlite3.",
  driver_unusable: "Install what the message says.",
  store_busy:
    "End the other program that locks the file, or the long transaction on PostgreSQL; look at the load of the disk. A handler must not hold a lock or a transaction of its own while it awaits `ctx.step` or `ctx.commit`.",
  store_full: "Free space on the disk.",
  store_failed: DATABASE_CODE,
  store_corrupt: "Stop the receiver, keep what is there, and start from the last copy.",
  store_replaced:
    "Put the files back, or restart the process; open them with no other SQLite. See [the store's files](data.md#the-stores-files).",
  store_unreachable: "Look at the server and the network; it is used again as soon as it answers.",
  store_not_primary: "Connect to the primary.",
  server_unusable: "Change what the message names.",
  lease_lost: "Nothing; the work runs again.",
  commit_twice: "Write everything in one `ctx.commit`.",
  commit_async: "Do the asynchronous part before, and only write inside.",
  transaction_ended:
    "Leave out BEGIN, COMMIT, ROLLBACK and OR ROLLBACK; throw the error of a statement that failed; wait before `ctx.commit`, not in it.",
  transaction_closed:
    "Use `db` or `client` inside the function only, and await what it returns. Leave out BEGIN, COMMIT and ROLLBACK.",
  duplicate_step: "Give each step of a run a name of its own.",
  step_not_json: "Return plain data, or less of it.",
  wait_timeout: "Correct what the test waits for, or what the app should have sent.",
  handler_timeout: "Make the handler faster, or raise `timeoutMs`.",
  run_ended: "Await everything in the handler before it returns.",
  not_found: "Look at `npx pigeonhole inbox list`.",
  body_dropped: "Raise `retention.bodiesMs` for the next ones.",
  port_in_use: "Give another `--port`, or end the other program.",
  tunnel_failed: "Install the tunnel program, or read its last lines.",
  no_answer: "Check `baseUrl` and the network. Calls with an idempotency key may be repeated.",
  invalid_answer: "Check that `baseUrl` leads to the API.",
  answer_too_large: "Ask for smaller pages, or raise `maxAnswerBytes`.",
  redirect_refused: "Set `baseUrl` to the final address.",
  unknown_error: "Look at `status` and `message`.",
  api_not_configured: "Give `createReceiver` the option `api`.",
  api_key_lost:
    "Rotate the key by its id with another key, or make a new one. See [rotating an API key](secrets.md#rotating-an-api-key).",
  key_conflict: "Give each contact event a `key` of its own.",
  invalid_capture: "Correct or delete the file that the message names.",
  invalid_query: "Correct the term that the message names.",
  no_capture: "Give more characters of the id.",
  captures_failed: "Correct the handler, or take over the answers with `--update`.",
  folder_not_empty: "Choose another folder.",
  program_failed: "Read its last lines in the message.",
};

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n")
    .replace(/^\| --- .*$/m, `|${head.map(() => "---").join("|")}|`);

export const alarmTable = (): string =>
  table(
    ["alarm", "what to do"],
    Object.entries(ALARMS).map(([kind, { advice }]) => [`\`${kind}\``, advice]),
  );

export const logTable = (): string =>
  table(
    ["message", "cause", "what to do"],
    Object.entries(LOG_MESSAGES).map(([message, { cause, remedy }]) => [`\`${message}\``, cause, remedy]),
  );

export const errorTable = (): string =>
  table(
    ["code", "cause", "what to do"],
    Object.entries(ERROR_CODES).map(([code, cause]) => [`\`${code}\``, cause, REMEDIES[code as ErrorCode]]),
  );
