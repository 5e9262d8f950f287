import type * as specs from "./spec.js";
import {
  type Capture,
  type CaptureAttempt,
  type CaptureSummary,
  type VerdictCode,
  CUT_TAG,
} from "../../capture/model/capture.js";
import { captureHandle } from "../../capture/model/capture-handle.js";
import { bodyBytes } from "../../capture/model/capture-request.js";
import { bodyText } from "../../capture/model/captured-body.js";
import { answerHead, describeAnswer, withOutcomes } from "../../capture/model/answer.js";
import { matchesQuery, parseQuery } from "../../capture/query/query.js";
import { selectCaptures } from "../../capture/query/select-captures.js";
import { sentEventId } from "../../capture/model/sent-event-id.js";
import type { EventState } from "../../store/state-words.js";
import { summarizeCapture } from "../../capture/model/summarize-capture.js";
import { escapeControls } from "../../base/text.js";
import { usageError } from "../frame/command-error.js";
import type { CommandContext, RunCommand } from "../frame/context.js";
import { type Paint, printRows } from "../frame/output.js";
import { formatJson } from "../frame/format.js";
import { readExistingCaptures, readCaptures } from "../values/capture-store.js";
import { describeEventWork, describeUnknown, isWorkUnknown, paintWork, workRecord } from "../values/event-work.js";
import { findSecrets } from "../values/secret-option.js";
import { type WorkReader, withWorkReader } from "../values/work-reader.js";
import { explainArrival, type NamedExplanation, type NamedSecret } from "../../capture/model/judge-signature.js";

export const list: RunCommand<typeof specs.capturesList> = async ({ args, options, context }) => {
  const { out } = context;
  const query = parseQuery(args.query.join(" "));
  const all = readExistingCaptures(context).list();
  const found = all.filter((capture) => matchesQuery(query, capture));
  const summaries = found.slice(0, options.limit).map(summarizeCapture);
  const { shown, unread } = await withWorkReader(options.inbox, context, async (reader) => ({
    shown: await withWork(summaries, reader),
    unread: reader.unread,
  }));
  // Without an inbox the column would be empty.
  const hasWork = shown.some(({ word }) => word !== undefined);
  const work = hasWork ? ["WORK"] : [];
  await printRows(out, shown, {
    columns: ["RECEIVED", "SIGNATURE", "TYPE", "ANSWER", ...work, "TOOK", "ID", "ABOUT"],
    record: ({ capture, word }) => ({ capture, work: word ?? null }),
    cells: ({ capture, word }) => listCells(capture, hasWork ? [word] : [], out.paint),
    none: all.length === 0 ? "There are no captures yet." : `None of ${all.length} captures matches.`,
  });
  if (!hasWork && shown.some(({ capture }) => isWorkUnknown(capture, undefined))) out.note(describeUnknown(unread));
  if (found.length > shown.length) out.note(`${found.length - shown.length} more; --limit shows them.`);
};

interface ListedCapture {
  capture: CaptureSummary;
  /** Undefined where it is not known. */
  word: EventState | undefined;
}

/** Each capture with the work on the event that it was sent as last. */
async function withWork(captures: readonly CaptureSummary[], reader: WorkReader): Promise<ListedCapture[]> {
  const listed: ListedCapture[] = [];
  for (const capture of captures) {
    const found = await reader.read(capture.lastEventId);
    listed.push({ capture, word: found?.event.state });
  }
  return listed;
}

function listCells(capture: CaptureSummary, words: readonly (EventState | undefined)[], paint: Paint): string[] {
  const { receivedAt, verdict, type, subject, status, outcome, ms, attempts, id } = capture;
  return [
    receivedAt,
    paintVerdict(verdict, paint),
    escapeControls(type ?? "–"),
    attempts === 0 ? "–" : describeAnswer({ status, outcome }),
    ...words.map((word) => (word === undefined ? "–" : paintWork(word, paint))),
    ms === null ? "" : `${ms} ms`,
    captureHandle(id),
    escapeControls(subject),
  ];
}

export const show: RunCommand<typeof specs.capturesShow> = async ({ args, options, context }) => {
  const capture = pickOne(args.capture, context);
  const { out } = context;
  if (options.body) out.raw(bodyBytes(capture));
  else {
    const id = sentEventId(capture, capture.attempts.at(-1));
    const { found, unread } = await withWorkReader(options.inbox, context, async (reader) => ({
      found: await reader.read(id),
      unread: reader.unread,
    }));
    const signature = checkCapturedSignature(capture, findSecrets(options.secret, context));
    const record = { capture: withOutcomes(capture), signature, work: workRecord(found) };
    out.result(record, describe(capture, { signature, work: describeEventWork(found), paint: out.paint }));
    const last = capture.attempts.at(-1);
    if (!out.isJson && last !== undefined && isWorkUnknown(answerHead(last), found)) out.note(describeUnknown(unread));
  }
};

function pickOne(word: string, context: CommandContext): Capture {
  const [capture, ...others] = selectCaptures(readCaptures(context), [word], context.cwd);
  if (capture !== undefined && others.length === 0) return capture;
  throw usageError(`"${word}" picks ${others.length + 1} captures; give one.`);
}

/** A symbol beside the colour, which not everyone can see. */
function paintVerdict(verdict: VerdictCode, paint: Paint): string {
  return verdict === "ok" ? paint.green("✓ ok") : paint.red(`✗ ${verdict}`);
}

function describe(
  capture: Capture,
  { signature, work, paint }: { signature: SignatureCheckResult; work: readonly string[]; paint: Paint },
): string {
  const { id, receivedAt, source, request, event, attempts, tags, note } = capture;
  const text = bodyText(request.body);
  const lines = [
    `id         ${id}`,
    `received   ${receivedAt}  from ${source}${capture.redaction === null ? "" : `, redacted: ${escapeControls(capture.redaction)}`}`,
    `event      ${escapeControls(event.type ?? "unknown type")}  ${escapeControls(event.id ?? "without id")}`,
    ...describeSignature(signature, paint),
    ...(tags.length === 0 ? [] : [`tags       ${escapeControls(tags.join(", "))}`]),
    ...(note === "" ? [] : [`note       ${escapeControls(note)}`]),
    ...attempts.map((attempt) => `attempt ${String(attempt.n).padEnd(2)} ${describeAttempt(attempt)}`),
    ...work.map((text, index) => `${index === 0 ? "work      " : "          "} ${escapeControls(text)}`),
    "",
    ...request.headers.map((pair) => paint.dim(escapeControls(pair.join(": ")))),
    "",
    text === undefined ? paint.dim("The body is not text; --body prints its bytes.") : formatJson(text),
  ];
  return lines.join("\n");
}

function describeSignature({ code, secretRef, summary, findings }: SignatureCheckResult, paint: Paint): string[] {
  const by = secretRef === null ? "" : `  signed with ${secretRef}`;
  const isOk = code === "ok";
  return [
    `signature  ${isOk ? paint.green("✓ genuine") : paint.red(`✗ ${code}`)}${escapeControls(by)}`,
    `           ${escapeControls(summary)}`,
    ...findings.flatMap(({ message, fix }, index) => [
      // The summary quotes the first one.
      ...(index === 0 && !isOk ? [] : [`           ${escapeControls(message)}`]),
      `           ${paint.dim("→")} ${escapeControls(fix)}`,
    ]),
  ];
}

function describeAttempt({ kind, mode, target, status, headers, ms, error, at }: CaptureAttempt): string {
  const answer = status === null && error !== null ? error : describeAnswer(answerHead({ status, headers }));
  return escapeControls(`${answer}  ${ms} ms  ${kind}, ${mode}  ${target}  ${at}`);
}

/** Whether a signature is genuine, `ok`, or why not, and what to do then. */
interface SignatureCheckResult extends Pick<NamedExplanation, "secretRef" | "summary"> {
  code: string;
  findings: { message: string; fix: string }[];
}

/** As of the arrival, with the secrets known now; without any, or of a body that was cut, as it was found then. */
function checkCapturedSignature(capture: Capture, secrets: readonly NamedSecret[]): SignatureCheckResult {
  const { verify, request, receivedAt, tags } = capture;
  if (secrets.length === 0 || tags.includes(CUT_TAG)) {
    const { code, secretRef, summary, fix } = verify;
    return { code, secretRef, summary, findings: fix === null ? [] : [{ message: summary, fix }] };
  }
  const { verdict, ...explained } = explainArrival(
    { body: bodyBytes(capture), headers: request.headers, secrets, receivedAt: Date.parse(receivedAt) },
    { mayTakeLong: true },
  );
  return { code: verdict.ok ? "ok" : verdict.reason, ...explained };
}
