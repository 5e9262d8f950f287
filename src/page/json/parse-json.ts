/** Where a text stops being JSON. */
export interface JsonProblem {
  message: string;
  /** Index of the character. */
  at: number;
  /** From 1. */
  line: number;
  column: number;
}

export type ParsedJson = { ok: true; value: unknown } | { ok: false; problem: JsonProblem };

/** The value that a handler gets of the text, or where the text stops being JSON. */
export function parseJson(text: string): ParsedJson {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch (error) {
    // Browsers name the place in words of their own, or not at all.
    return { ok: false, problem: findProblem(text) ?? problemAt(text, 0, String(error)) };
  }
}

const SPACE = /[\t\n\r ]*/y;
const TOKEN =
  /[{}[\],:]|"(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/uy;

/** What may come next, in words. */
const WANTED = {
  value: "a value",
  item: "a value or ]",
  name: "a name in quotes",
  member: "a name in quotes or }",
  colon: "a colon",
  more: "a comma or the end of what is open",
  end: "the end",
} as const;

/** The first place where the text breaks the grammar; undefined for JSON. */
export function findProblem(text: string): JsonProblem | undefined {
  const open: string[] = [];
  let wanted: keyof typeof WANTED | undefined = "value";
  let at = read(SPACE, text, 0).length;
  while (at < text.length) {
    const token = read(TOKEN, text, at);
    const before: keyof typeof WANTED = wanted;
    wanted = token === "" ? undefined : stepOver(token[0] ?? "", wanted, open);
    if (wanted === undefined) {
      if (token === "" && text[at] === '"') return problemAt(text, at, BAD_STRING);
      return problemAt(text, at, `Expected ${WANTED[before]}, but there is ${JSON.stringify(text[at])}`);
    }
    at += token.length;
    at += read(SPACE, text, at).length;
  }
  return wanted === "end" ? undefined : problemAt(text, at, `Expected ${WANTED[wanted]}, but the text ends`);
}

const BAD_STRING = "The string that begins here has a character or an escape that JSON does not allow";

function read(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}

/** What may come after a token, of which the first character tells what it is; undefined where it may not stand. */
function stepOver(first: string, wanted: keyof typeof WANTED, open: string[]): keyof typeof WANTED | undefined {
  const after = () => (open.length === 0 ? "end" : "more");
  if (first === "]" || first === "}") {
    const isEmpty = wanted === (first === "]" ? "item" : "member");
    if (!isEmpty && (wanted !== "more" || open.at(-1) !== first)) return undefined;
    open.pop();
    return after();
  }
  if (first === ",") return wanted === "more" ? (open.at(-1) === "]" ? "value" : "name") : undefined;
  if (first === ":") return wanted === "colon" ? "value" : undefined;
  if (first === '"' && (wanted === "name" || wanted === "member")) return "colon";
  if (wanted !== "value" && wanted !== "item") return undefined;
  if (first !== "{" && first !== "[") return after();
  open.push(first === "[" ? "]" : "}");
  return first === "[" ? "item" : "member";
}

function problemAt(text: string, at: number, message: string): JsonProblem {
  const before = text.slice(0, at).split("\n");
  return { message, at, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
