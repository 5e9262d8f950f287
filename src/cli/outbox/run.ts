import { PigeonholeError } from "../../base/error.js";
import type { InboxOperator } from "../../store/inbox-operator.js";
import type { OutboxView } from "../../store/outbox.js";
import { confirm } from "../frame/confirm.js";
import type { RunCommand } from "../frame/context.js";
import { EXIT, type ExitCode } from "../frame/exit-code.js";
import type { Output } from "../frame/output.js";
import { escapeControls } from "../../base/escape-controls.js";
import { formatJson, formatTable, isoTime } from "../frame/format.js";
import type * as specs from "./spec.js";
import { allRows, withInbox } from "../values/inbox-file.js";

export const list: RunCommand<typeof specs.outboxList> = ({ options, context }) =>
  withInbox(options.db, context, async (inbox) => {
    const { out } = context;
    const { state, limit } = options;
    const rows: string[][] = [];
    const fetchPage = (page: { limit: number; cursor?: string }) =>
      inbox.listContactEvents({ ...(state !== undefined && { state }), ...page });
    for await (const event of allRows(limit, fetchPage)) {
      if (out.isJson) out.result({ contactEvent: record(event) }, "");
      else rows.push(row(event));
    }
    if (out.isJson) return;
    if (rows.length === 0) out.note(state === undefined ? "No contact events." : "No such contact events.");
    else out.result({}, formatTable(["RECORDED", "STATE", "NAME", "KEY", "WHY"], rows, out.paint.dim));
  });

export const show: RunCommand<typeof specs.outboxShow> = ({ args, options, context }) =>
  withInbox(options.db, context, async (inbox) => {
    const event = await mustFind(inbox, args.key);
    const { out } = context;
    const { key, state, recordedAt, settledAt, remoteId, reason, code, param, message } = event;
    const facts = [
      ["key", key],
      ["state", state],
      ["recorded", isoTime(recordedAt)],
      ["settled", isoTime(settledAt)],
      ["stored as", remoteId],
      ["reason", reason],
      ["code", code],
      ["param", param],
      ["message", message],
    ].filter(([, value]) => value !== undefined && value !== null && value !== "");
    const lines = facts.map(([name = "", value]) => `${(name ?? "").padEnd(10)}${escapeControls(String(value))}`);
    out.result({ contactEvent: record(event) }, [...lines, "", formatJson(event.body)].join("\n"));
  });

export const retry: RunCommand<typeof specs.outboxRetry> = ({ args, options, context }) =>
  withInbox(options.db, context, (inbox) =>
    forEach(args.keys, context.out, async (key) => {
      if (!(await inbox.retryContactEvent(key))) throw notFound(key, "that is dead");
      return "will be sent when the receiver next reads its outbox";
    }),
  );

export const discard: RunCommand<typeof specs.outboxDiscard> = ({ args, options, context }) =>
  withInbox(options.db, context, async (inbox) => {
    const { keys } = args;
    const what = keys.length === 1 ? "this contact event" : `${keys.length} contact events`;
    if (!(await confirm(`Give up ${what}?`, context))) return EXIT.failed;
    return forEach(keys, context.out, async (key) => {
      if (!(await inbox.discardContactEvent(key))) throw notFound(key, "that is dead or not yet being sent");
      return "given up";
    });
  });

export const stats: RunCommand<typeof specs.outboxStats> = ({ options, context }) =>
  withInbox(options.db, context, async (inbox) => {
    const { contactEvents } = await inbox.overview();
    const { pending, leased, dead, oldestRecordedAt } = contactEvents;
    const oldest = isoTime(oldestRecordedAt);
    const { out } = context;
    out.result(
      { contactEvents: { pending, leased, dead, oldestRecordedAt: oldest } },
      [
        `pending  ${pending}${oldest === null ? "" : `, the oldest recorded ${oldest}`}`,
        `leased   ${leased}`,
        `dead     ${dead === 0 ? "0" : out.paint.red(String(dead))}`,
      ].join("\n"),
    );
  });

async function mustFind(inbox: InboxOperator, key: string): Promise<OutboxView> {
  for await (const event of allRows(Number.MAX_SAFE_INTEGER, (page) => inbox.listContactEvents(page))) {
    if (event.key === key) return event;
  }
  throw notFound(key, "");
}

function notFound(key: string, condition: string): PigeonholeError {
  const which = condition === "" ? "" : ` ${condition}`;
  return new PigeonholeError("not_found", `There is no contact event with the key "${escapeControls(key)}"${which}.`);
}

/** Does the work for each key. A failure does not stop the others. */
async function forEach(
  keys: readonly string[],
  out: Output,
  work: (key: string) => Promise<string>,
): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.ok;
  for (const key of keys) {
    try {
      const text = await work(key);
      out.result({ key, done: true }, `${escapeControls(key)}  ${text}`);
    } catch (error) {
      exitCode = out.fail(error);
    }
  }
  return exitCode;
}

function record(event: OutboxView): Record<string, unknown> {
  const { key, state, recordedAt, occurredAt, settledAt, remoteId, reason, code, param, message, body } = event;
  return {
    key,
    state,
    recordedAt: isoTime(recordedAt),
    occurredAt: isoTime(occurredAt),
    settledAt: isoTime(settledAt),
    remoteId: remoteId ?? null,
    reason: reason ?? null,
    code: code ?? null,
    param: param ?? null,
    message: message ?? null,
    event: JSON.parse(body) as unknown,
  };
}

function row({ key, state, recordedAt, body, reason, code, param }: OutboxView): string[] {
  const { name = "" } = JSON.parse(body) as { name?: string };
  const why = [reason, code, param].filter((part) => part !== undefined && part !== "").join(" ");
  return [new Date(recordedAt).toISOString(), state, escapeControls(name), escapeControls(key), escapeControls(why)];
}
