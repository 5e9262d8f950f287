/** One line of a Prometheus text page. */
export interface Sample {
  name: string;
  labels: ReadonlyMap<string, string>;
  value: number;
}

/** Reads the text of a Prometheus endpoint. */
export function parseSamples(text: string): Sample[] {
  return text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [, name = "", , labels = "", value = ""] = /^([\w:]+)(\{(.*)\})? (\S+)$/.exec(line) ?? [];
      return { name, labels: new Map(labelPairs(labels)), value: Number(value.replace("Inf", "Infinity")) };
    });
}

/** What an expression asks of the labels of a series. */
interface Matcher {
  label: string;
  operator: string;
  value: string;
}

/** A choice of series, such as `name{label="value"}`. */
export interface Selector {
  text: string;
  matchers: Matcher[];
}

const BRACES = /([a-zA-Z_:][\w:]*)?\{([^}]*)\}/g;
const LABEL_LIST = /\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g;
/** Labels that the scrape or the kind of metric adds. */
const ADDED = new Set(["job", "instance", "le"]);
/** The words of the language that may be used; any other is the name of a metric. */
const WORDS = new Set(["sum", "min", "max", "rate", "increase", "histogram_quantile", "or", "and", "unless"]);

/** All selectors of an expression, also those without braces. */
export function selectorsOf(expression: string): Selector[] {
  const braced = [...expression.matchAll(BRACES)].map(([text, name, inside = ""]) => ({
    text,
    matchers: [...nameMatcher(name), ...matchersIn(inside)],
  }));
  const rest = expression
    .replaceAll(BRACES, " ")
    .replaceAll(LABEL_LIST, " ")
    .replaceAll(/\[[^\]]*\]/g, " ");
  const bare = [...rest.matchAll(/[a-zA-Z_:][\w:]*/g)].map(([name]) => name).filter((name) => !WORDS.has(name));
  return [...braced, ...bare.map((name) => ({ text: name, matchers: nameMatcher(name) }))];
}

/** The labels that an expression groups by. */
export function groupedBy(expression: string): string[] {
  const lists = [...expression.matchAll(LABEL_LIST)].map(([, list = ""]) => list.split(",").map((name) => name.trim()));
  return lists.flat().filter((name) => !ADDED.has(name));
}

/** Whether the selector chooses the sample, leaving out the labels that a scrape would add. */
export function matches({ matchers }: Selector, { name, labels }: Sample): boolean {
  return matchers
    .filter(({ label }) => !ADDED.has(label))
    .every(({ label, operator, value }) => {
      const found = label === "__name__" ? name : (labels.get(label) ?? "");
      const isEqual = operator.endsWith("~") ? new RegExp(`^(?:${value})$`).test(found) : found === value;
      return operator.startsWith("!") ? !isEqual : isEqual;
    });
}

function nameMatcher(name: string | undefined): Matcher[] {
  return name === undefined ? [] : [{ label: "__name__", operator: "=", value: name }];
}

function matchersIn(inside: string): Matcher[] {
  return [...inside.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g)].map(([, label = "", operator = "", value = ""]) => ({
    label,
    operator,
    value,
  }));
}

function labelPairs(labels: string): [string, string][] {
  return [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = "", value = ""]) => [label, value]);
}
