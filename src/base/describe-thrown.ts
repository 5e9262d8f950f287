import { fileURLToPath } from "node:url";
import { PACKAGE_FOLDER } from "./package-folder.js";

/** Longest error text that lists show. */
const MAX_ERROR_LENGTH = 2_000;
/** Longest error in full. */
const MAX_STACK_LENGTH = 8_000;
/** Causes behind an error, so that one that is its own cause ends. */
const MAX_CAUSES = 5;
/** A message may hold a whole mail, so its place in a stack is looked for by its beginning, in that of the stack. */
const HEAD = { ofStack: 1_000, ofMessage: 100 };
/** Last part of a stack in which frames are looked for, if its message was changed. */
const MAX_SEARCHED = 100_000;
/** Errors inside of an AggregateError that are named. */
const MAX_INNER = 4;
/** Longest text of an error inside of another, or behind it. */
const MAX_INNER_LENGTH = 300;
/** Longest part of a message that is looked at. */
const MAX_MESSAGE_LENGTH = 4_000;
/** Errors inside of errors inside of an error. */
const MAX_DEPTH = 2;
/** Codes of Node, of drivers and of databases. */
const CODE = /^[A-Z\d][A-Z\d_]{1,63}$/;

/** What a handler threw, as the inbox keeps it. It can be anything, also a value that cannot be converted to text. */
export function describeThrown(thrown: unknown): { error: string; stack: string } {
  const causes = causesOf(thrown);
  const error = errorTextWithCause(thrown, causes).slice(0, MAX_ERROR_LENGTH);
  const parts = [error + framesOf(thrown), ...causes.map(describeCause)];
  const stack = parts.join("\nCaused by: ").slice(0, MAX_STACK_LENGTH);
  return { error, stack };
}

/** The lines of the stack behind name and message, which may have changed since they were copied into it. */
const framesOf = (error: unknown): string => readFrom(error, framesIn) ?? "";

function framesIn(error: unknown): string {
  if (!(error instanceof Error) || typeof error.stack !== "string") return "";
  const { message, stack } = error;
  const place = stack.slice(0, HEAD.ofStack).indexOf(message.slice(0, HEAD.ofMessage));
  const isThere = place !== -1 && stack.startsWith(message, place);
  const behind = isThere ? stack.slice(place + message.length) : stack.slice(-MAX_SEARCHED);
  // Line ends are no part of the space before `at`: a run of them would be searched from each.
  const start = behind.search(/\n[^\S\n]+at /);
  return start === -1 ? "" : withoutOwnFrames(behind.slice(start));
}

/** Where this package is, by its path and as a URL. Its frames do not say where a handler threw. */
const OWN_PLACES = ["src/", "dist/"].flatMap((part) => {
  const folder = new URL(part, PACKAGE_FOLDER);
  return [folder.href, fileURLToPath(folder)];
});
/** What it runs handlers through. */
const OTHER_PLACES = ["node:internal/", "/@opentelemetry/api/"];
const isOwn = (line: string): boolean => [...OWN_PLACES, ...OTHER_PLACES].some((place) => line.includes(place));

/** Frames, without those of this package unless no other one names a file, as in an app that is bundled with it. */
function withoutOwnFrames(frames: string): string {
  const others = frames.split("\n").filter((line) => line !== "" && !isOwn(line));
  return others.some((line) => /:\d+\)?$/.test(line)) ? `\n${others.join("\n")}` : frames;
}

const describeCause = (cause: unknown): string => errorText(cause).slice(0, MAX_ERROR_LENGTH) + framesOf(cause);

function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  let cause = causeOf(error);
  while (cause !== undefined && causes.length < MAX_CAUSES) {
    causes.push(cause);
    cause = causeOf(cause);
  }
  return causes;
}

const causeOf = (error: unknown): unknown =>
  readFrom(error, (each) => (each instanceof Error ? each.cause : undefined));

/** Name and message of what was thrown, with its code and the errors inside of it where the message lacks them. */
function errorText(thrown: unknown): string {
  const text = readFrom(thrown, (error) =>
    error instanceof Error ? `${error.name}: ${messageOf(error)}` : `A value that is not an Error: ${String(error)}`,
  );
  return text === undefined ? "A value that cannot be shown as text." : withMarkedLines(text);
}

/**
 * The same, with the first of its causes that comes from the system, such as a refused connection: the message of what
 * wraps it, such as `fetch failed`, says neither what failed nor where.
 */
function errorTextWithCause(thrown: unknown, causes: readonly unknown[]): string {
  const text = errorText(thrown);
  const message = causes.map((cause) => readFrom(cause, messageOfSystem)).find((each) => each !== undefined);
  if (message === undefined || message.plain.some((each) => each !== "" && text.includes(each))) return text;
  return `${text}${text.endsWith(": ") ? "" : ": "}${withMarkedLines(message.full)}`;
}

/** Undefined for an error without a code in it. */
function messageOfSystem(error: unknown): { plain: string[]; full: string } | undefined {
  if (!(error instanceof Error)) return undefined;
  const isOfSystem = [error, ...innerErrors(error, 0).inner].some((each) => codeOf(each) !== undefined);
  if (!isOfSystem) return undefined;
  const full = messageOf(error).slice(0, MAX_INNER_LENGTH);
  return { plain: [ownMessage(error), full], full };
}

function messageOf(error: Error, depth = 0): string {
  const message = ownMessage(error);
  const { inner, others } = innerErrors(error, depth);
  const texts = inner.map((each) => readFrom(each, () => innerText(each, depth + 1)) ?? "");
  const missing = texts.filter((text) => !message.includes(text));
  if (others > 0) missing.push(`${others} more`);
  const text = [message, missing.join("; ")].filter((part) => part !== "").join(": ");
  const code = codeOf(error);
  if (code === undefined || text.includes(code)) return text;
  return text === "" ? code : `${text} (${code})`;
}

function innerText(error: Error, depth: number): string {
  const message = messageOf(error, depth);
  return (error.name === "Error" ? message : `${error.name}: ${message}`).slice(0, MAX_INNER_LENGTH);
}

/** Those of an AggregateError, such as Node's for a host with several addresses. */
function innerErrors(error: Error, depth: number): { inner: Error[]; others: number } {
  const errors: unknown = readFrom(error, (each) => Reflect.get(each, "errors"));
  if (!Array.isArray(errors) || depth === MAX_DEPTH) return { inner: [], others: 0 };
  const inner = errors.slice(0, MAX_INNER).filter((each) => each instanceof Error);
  return { inner, others: inner.length === 0 ? 0 : Math.max(0, errors.length - MAX_INNER) };
}

function codeOf(error: Error): string | undefined {
  const code: unknown = readFrom(error, (each) => Reflect.get(each, "code"));
  return typeof code === "string" && CODE.test(code) ? code : undefined;
}

/** Anyone can set it to what is no text, or to a whole mail: texts are looked for in one another. */
const ownMessage = ({ message }: { message: unknown }): string => String(message).slice(0, MAX_MESSAGE_LENGTH);

/** What is read of a thrown value; undefined where it throws. */
function readFrom<Thrown, Value>(thrown: Thrown, read: (thrown: Thrown) => Value): Value | undefined {
  try {
    return read(thrown);
  } catch {
    return undefined;
  }
}

/** Lines of a message that would be taken for a frame or a cause, which may be shown where messages may not. */
function withMarkedLines(text: string): string {
  return text.replaceAll(/(?<=\n)(?=[^\S\n]*at\s|Caused by:)/g, "| ");
}
