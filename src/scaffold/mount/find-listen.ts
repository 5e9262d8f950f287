/** Where an app listens: a plain statement, so that another can stand before it. */
export interface ListenPlace {
  /** Start of its line. */
  at: number;
  /** White space before the statement; empty where it belongs to the file itself. */
  indent: string;
}

/**
 * The only `.listen(` of one of these names, or of what was made with one of them, if it is a plain statement:
 * `app.listen(`, `createServer(app).listen(`, or `server.listen(` after `const server = createServer(makeApp());`.
 * `code` has no comments and no texts.
 */
export function findListen(code: string, names: readonly string[], from: number): ListenPlace | undefined {
  const [first, another] = listenLines(code, names, from);
  if (first === undefined || another !== undefined) return undefined;
  const { at, indent, subject } = first;
  if (!PLAIN.test(subject)) return undefined;
  return indent === "" || isStatement(code.slice(0, at), indent) ? { at, indent } : undefined;
}

/** Numbers of the lines in which an app of these names listens, whatever they look like. */
export function findListenLines(code: string, names: readonly string[], from: number): number[] {
  return listenLines(code, names, from).map(({ at }) => code.slice(0, at).split("\n").length);
}

interface ListenLine {
  at: number;
  indent: string;
  /** What stands before `.listen(`. */
  subject: string;
}

function listenLines(code: string, names: readonly string[], from: number): ListenLine[] {
  const known = new Set(names);
  for (const [, made = "", value = ""] of code.matchAll(MADE)) if (mentions(value, known)) known.add(made);
  return [...code.slice(from).matchAll(/^([ \t]*)(.*)\.listen\(/gm)]
    .filter(([, , subject = ""]) => mentions(subject, known))
    .map(({ index, 1: indent = "", 2: subject = "" }) => ({ at: from + index, indent, subject }));
}

/** The name and the value of a variable. */
const MADE = /^[ \t]*(?:const|let|var)\s+([\w$]+)(?:\s*:[^=\n]+)?\s*=\s*(.*)$/gm;

/** What stands before `.listen(`: a name or a call, which may be kept in a variable, or in a promise. */
const PLAIN =
  /^(?:return\s+)?(?:(?:const|let|var)\s+[\w$]+(?:\s*:[^=\n]+)?\s*=\s*)?(?:await\s+)?(?:new Promise(?:<[\w\s]+>)?\(\(?[\w$]+\)?\s*=>\s*)?(?!(?:if|for|while)\b)[\w$.]+(?:\(.*\))?$/;

function mentions(code: string, names: ReadonlySet<string>): boolean {
  return [...code.matchAll(/(?<![\w$.])[\w$]+/g)].some(([name]) => names.has(name));
}

/** Whether what follows this code begins a statement, and is not the body of an `if` or the end of an expression. */
function isStatement(before: string, indent: string): boolean {
  const line = before
    .split("\n")
    .findLast((each) => each.trim() !== "")
    ?.trimEnd();
  if (line === undefined || /[{};]$/.test(line)) return true;
  // Without semicolons the line before ends a statement if it begins where this one does.
  return (
    /^[ \t]*/.exec(line)?.[0] === indent &&
    !/(?:[=(,[&|?:+\-*<>.]|=>)$/.test(line) &&
    !/^\s*(?:\}\s*)?(?:if|else|for|while|do)\b/.test(line)
  );
}
