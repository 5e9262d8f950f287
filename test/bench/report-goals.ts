import { GOALS, NODE_20_GOALS, type Facts, type Goal, type Relation } from "./goals.js";
import { MEASURES, type Measure } from "./options.js";
import type { Runtime } from "./process/runtime.js";
import { formatNumber, formatTable, printLine, printTitle } from "./table.js";

const IS_MET: Record<Relation, (measured: number, bound: number) => boolean> = {
  ">=": (measured, bound) => measured >= bound,
  "<=": (measured, bound) => measured <= bound,
};

function formatGoal([id, text, fact, relation, bound, digits]: Goal, facts: Facts): string[] {
  const measured = facts.get(fact) ?? Number.NaN;
  const isMet = IS_MET[relation](measured, bound);
  const verdict = Number.isNaN(measured) ? "not measured" : isMet ? "met" : "NOT MET";
  return [`${id}  ${text}`, `${relation} ${bound}`, formatNumber(measured, digits), verdict];
}

/** Prints the goals that belong to the measures of this run and to its Node, and names the others. */
export function printGoals(run: { facts: Facts; runtime: Runtime; measures: readonly Measure[] }): void {
  const { facts, runtime, measures } = run;
  const goals = runtime.major < 22 ? NODE_20_GOALS : GOALS;
  printTitle(`Goals, Node ${runtime.version}`);
  const rows = measures.flatMap((measure) => (goals[measure] ?? []).map((goal) => formatGoal(goal, facts)));
  printLine(formatTable(["goal", "wanted", "measured", ""], rows));
  const others = MEASURES.filter((measure) => !measures.includes(measure)).flatMap((measure) => {
    const ids = [...new Set(goals[measure]?.map(([id]) => id))];
    return ids.length === 0 ? [] : [`${ids.join(", ")} (--only ${measure})`];
  });
  if (others.length > 0) printLine(`not of this run: ${others.join("; ")}`);
}
