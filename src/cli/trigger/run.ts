import { createHash, randomBytes } from "node:crypto";
import type { HeaderList } from "../../capture/model/capture.js";
import {
  type AnswerHead,
  type AnswerJudgement,
  answerHead,
  describeAnswer,
  judgeAnswer,
  whyNotRun,
} from "../../capture/model/answer.js";
import { FORWARD_FLAG, answerAdvice, seenAnswer } from "../../capture/model/answer-advice.js";
import { checkExpectation, checkStatusPattern } from "../../capture/model/check-expectation.js";
import { editJson } from "../../capture/json/edit-json.js";
import { encodeAnswerBody, encodeBody } from "../../capture/model/encode-body.js";
import { readEnvelope } from "../../capture/model/captured-body.js";
import { type SendResult, sendRequest } from "../../capture/send/send-request.js";
import { createLocalLookUp } from "../../capture/send/local-address.js";
import { checkLocalTarget } from "../../capture/send/target.js";
import { headerListReader } from "../../capture/model/judge-signature.js";
import { TARGET_HEADER } from "../../dev/forward/target-header.js";
import { TRIGGER_AGENT } from "../../dev/capture-port/sender-address.js";
import { signVariant } from "../../dev/api/sign-variant.js";
import { rawEventId } from "../../protocol/raw-event-id.js";
import { EVENT_TYPES, isEventType } from "../../protocol/event-types.js";
import { sampleEvent } from "../../sandbox/samples/sample-event.js";
import { usageError, EXIT, type ExitCode, refusedAs } from "../frame/command-error.js";
import type { CommandContext, CommandInput, RunCommand } from "../frame/context.js";
import type { Output } from "../frame/output.js";
import { describeUnknown, isWorkUnknown, judgeWithWork, workRecord, answerText } from "../values/event-work.js";
import { noSuchEventType } from "../values/parse-option.js";
import { readInput, readWebhookUrl } from "../values/flag-values.js";
import { readVariable, requireSigningSecret } from "../values/secret-option.js";
import { type FoundEvent, type WorkReader, withWorkReader } from "../values/work-reader.js";
import type { trigger } from "./spec.js";

type Input = CommandInput<typeof trigger>;

/** The dev server shows the origin of a delivery by this header. */
const OWN_NAME: [string, string] = ["User-Agent", TRIGGER_AGENT];

export const run: RunCommand<typeof trigger> = (input) =>
  withWorkReader(input.options.inbox, input.context, (reader) => sendEvent(input, reader));

async function sendEvent(input: Input, reader: WorkReader): Promise<ExitCode> {
  const { options, context } = input;
  const { sign, allowRemote, expect } = options;
  if (expect !== undefined) {
    const wrong = `--expect must be a status such as 200, or a class such as 2xx, got "${expect}".`;
    refusedAs(
      () => wrong,
      () => checkStatusPattern(expect),
    );
  }
  const body = await makeBody(input);
  const needsSecret = sign !== "missing" && sign !== "wrong-secret";
  const secret = needsSecret ? requireSigningSecret(options.secret, context) : undefined;
  const url = readWebhookUrl("--to", options.to);
  const lookUp = createLocalLookUp();
  if (!allowRemote) await checkLocalTarget(url, lookUp);

  const signed = signVariant({ body, secret: secret?.value, variant: sign, nowMs: Date.now() });
  const delivery = { ...signed, headers: [...signed.headers, OWN_NAME] };
  if (options.print) {
    printRequest(url, delivery.headers, delivery.body, context.out);
    return EXIT.ok;
  }
  const answer = await sendRequest({ url, method: "POST", ...delivery, allowRemote, lookUp, signal: context.signal });
  context.signal.throwIfAborted();
  const found = await readWork(reader, body, answer);
  const signedWith = sign === "valid" ? secret?.ref : undefined;
  const exitCode = showAnswer({ url, body, answer, found, signedWith, expect, context });
  if (isWorkUnknown(answerHead(answer), found)) context.out.note(describeUnknown(reader.unread));
  return exitCode;
}

/** What the handlers made of the event, if a receiver of this package took it. */
async function readWork(reader: WorkReader, body: Uint8Array, answer: SendResult): Promise<FoundEvent | undefined> {
  if (answerHead(answer).outcome === null) return undefined;
  const { id } = readHead(body);
  return await reader.readEnded(id ?? rawEventId(createHash("sha256").update(body).digest("hex")));
}

/** The bytes of the event. */
async function makeBody({ args, options, context }: Input): Promise<Uint8Array> {
  const { type } = args;
  const { seed, id } = options;
  const edit = { set: Object.fromEntries(options.set), unset: options.unset };
  if (options.body !== undefined) {
    if (type !== undefined) throw usageError("Give an event type or --body, not both.");
    const bytes = await readInput("--body", options.body, context);
    const isEdited = options.set.length > 0 || options.unset.length > 0;
    return isEdited ? Buffer.from(editJson(bytes.toString("utf8"), edit)) : bytes;
  }
  if (type === undefined) throw usageError(`Which event? Give a type such as email.received: ${ALL_TYPES}.`);
  if (!isEventType(type)) {
    throw usageError(`${noSuchEventType(type)} There are ${ALL_TYPES}; --body posts any other event.`);
  }
  // With a seed the bytes must be the same in every run, including the time.
  const own = seed === undefined ? { seed: randomBytes(12).toString("hex"), createdAt: new Date() } : { seed };
  return Buffer.from(editJson(JSON.stringify(sampleEvent(type, {}, { ...own, id })), edit));
}

const ALL_TYPES = EVENT_TYPES.join(", ");

function printRequest(url: string, headers: HeaderList, body: Uint8Array, out: Output): void {
  const { host, pathname, search } = new URL(url);
  const text = Buffer.from(body).toString("utf8");
  const lines = [`POST ${pathname}${search} HTTP/1.1`, `Host: ${host}`, ...headers.map((pair) => pair.join(": "))];
  out.result({ url, headers, body: text }, [...lines, "", text, ""].join("\n"));
}

interface AnswerInput {
  url: string;
  body: Uint8Array;
  answer: SendResult;
  /** What the handlers made of the event; undefined if it is not known. */
  found: FoundEvent | undefined;
  /** Name of the secret that signed it; undefined if it was signed wrongly. */
  signedWith: string | undefined;
  expect: string | undefined;
  context: CommandContext;
}

function showAnswer(input: AnswerInput): ExitCode {
  const { body, answer, found, expect, context } = input;
  const { out } = context;
  const { status, ms, error } = answer;
  const event = readHead(body);
  const head = answerHead(answer);
  const received = { ...answer, body: encodeAnswerBody(answer.headers, answer.body) };
  const failures = expect === undefined ? [] : checkExpectation({ status: expect }, received);
  const result = status === null ? (error ?? describeAnswer(head)) : `${describeAnswer(head)}  ${ms} ms`;
  const why = whyNotRun(head, "delivery");
  const advice = adviceFor(input, failures) ?? devAdvice(input) ?? null;
  const remarks = [...(status === null ? [] : failures), ...(why === undefined ? [] : [`${why}.`])];
  const line = `${event.type ?? "event"}  ${event.id ?? "without id"}  ${result}`;
  const judgement = judge(head, failures, expect);
  out.result(
    { event, ...head, ms, error, failures, notRun: why ?? null, work: workRecord(found), advice },
    answerText({ line, judgement, remarks, found, answer: received, advice }, out.paint),
  );
  if (status === null) return EXIT.unreachable;
  return judgeWithWork(judgement, found) === "bad" ? EXIT.failed : EXIT.ok;
}

/** None for an answer that was expected. */
function adviceFor({ url, answer, signedWith, expect }: AnswerInput, failures: readonly string[]): string | undefined {
  if (expect !== undefined && failures.length === 0) return undefined;
  // What a dev server passes on is the answer of the app behind it.
  const forwardedTo = headerListReader(answer.headers)(TARGET_HEADER.toLowerCase());
  const target = forwardedTo !== undefined && URL.canParse(forwardedTo) ? forwardedTo : url;
  return answerAdvice({
    ...seenAnswer({ ...answer, target, at: new Date(Date.now() - answer.ms).toISOString() }),
    isSigned: signedWith !== undefined,
    secretRef: signedWith,
    pathFlag: target === url ? "--to 3000/hooks" : FORWARD_FLAG,
  });
}

/** Where nothing listens, if `pigeonhole dev` would. */
function devAdvice({ url, answer, context }: AnswerInput): string | undefined {
  if (answer.failure !== "refused" || new URL(url).port !== (readVariable("DEV_PORT", context) ?? "4400")) return;
  return "pigeonhole dev receives there once it says Ready: start it, or give the port of the app itself, as in --to 3000.";
}

/** An expected answer is good whatever its status, but a parked event is handled in no case. */
function judge(head: AnswerHead, failures: readonly string[], expect: string | undefined): AnswerJudgement {
  if (failures.length > 0) return "bad";
  const judgement = judgeAnswer(head);
  return judgement === "bad" && head.status !== null && expect !== undefined ? "good" : judgement;
}

function readHead(body: Uint8Array): { id: string | null; type: string | null } {
  const { id, type } = readEnvelope(encodeBody(body));
  return { id, type };
}
