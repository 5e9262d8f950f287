/** Where an app listens: a plain statement, so that another can stand before it. */
export interface ListenPlace {
  /** Start of its line. */
  at: number;
  /** White space before the statement. */
  indent: string;
  /** What it belongs to: the file itself, or a function that may or may not use `await`. */
  scope: "file" | "async" | "sync";
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
  if (indent === "") return { at, indent, scope: "file" };
  const scope = scopeOf(code.slice(0, at));
  return scope === undefined || !isStatement(code.slice(0, at), indent) ? undefined : { at, indent, scope };
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

const BLOCK = /^(?:else\s+)?(?:if|else|try|catch|finally)\b(?:(?!=>)[^])*$/;
const TYPE = String.raw`(?:\s*:\s*[\w$<>\[\], .|]+?)?`;
/** Heads of functions; the first group is their `async`. */
const FUNCTIONS = [
  String.raw`(async\s*)?(?:\([^()]*\)${TYPE}|(?<![\w$])[\w$]+)\s*=>$`,
  String.raw`(async\s+)?function\s*[\w$]*\s*\([^()]*\)${TYPE}$`,
  String.raw`^(?:(?:public|private|protected|static)\s+)*(async\s+)?(?!(?:for|while|switch|with)\b)[\w$]+\s*\([^()]*\)${TYPE}$`,
].map((pattern) => new RegExp(pattern));

/** The head of a function that this code ends with; the first group is its `async`. */
export function findFunction(code: string): RegExpExecArray | undefined {
  return FUNCTIONS.map((pattern) => pattern.exec(code)).find((match) => match !== null);
}

/** What the end of this code belongs to: blocks of `if` and `try` to what is around them. Undefined if not clear. */
function scopeOf(before: string): ListenPlace["scope"] | undefined {
  let depth = 0;
  for (let index = before.length - 1; index >= 0; index -= 1) {
    if (before[index] === "}") depth += 1;
    if (before[index] !== "{") continue;
    depth -= 1;
    if (depth >= 0) continue;
    depth = 0;
    const head = /[^{};]*$/.exec(before.slice(0, index))?.[0].trim() ?? "";
    if (BLOCK.test(head)) continue;
    const found = findFunction(head);
    if (found === undefined) return undefined;
    return found[1] === undefined ? "sync" : "async";
  }
  return "file";
}
