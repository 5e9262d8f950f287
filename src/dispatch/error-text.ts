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

/** Name and message of what was thrown, with its code and the errors inside of it where the message lacks them. */
export function errorText(thrown: unknown): string {
  const text = readFrom(thrown, (error) =>
    error instanceof Error ? `${error.name}: ${messageOf(error)}` : `A value that is not an Error: ${String(error)}`,
  );
  return text === undefined ? "A value that cannot be shown as text." : withMarkedLines(text);
}

/**
 * The same, with the first of its causes that comes from the system, such as a refused connection: the message of what
 * wraps it, such as `fetch failed`, says neither what failed nor where.
 */
export function errorTextWithCause(thrown: unknown, causes: readonly unknown[]): string {
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
