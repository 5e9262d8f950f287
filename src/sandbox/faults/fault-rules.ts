import type { Random } from "../../base/random.js";
import type { CommonRule } from "./check-rule.js";

/** A rule in force. */
export interface ActiveFault<Rule> {
  /** Names the rule among those of its list. */
  id: string;
  /** As it was added. */
  rule: Rule;
  /** How often the fault will still happen; null for no limit. */
  left: number | null;
}

/** Rules in order. The first that matches decides. */
export class FaultRules<Rule extends CommonRule> {
  readonly #check: (rule: Rule) => void;
  #active: ActiveFault<Rule>[] = [];
  #added = 0;

  /** `check` throws for an invalid rule. */
  constructor(check: (rule: Rule) => void) {
    this.#check = check;
  }

  /**
   * Adds a rule; throws `invalid_argument` or `invalid_option` for an invalid one. Returns a function that removes it.
   */
  add(rule: Rule): () => void {
    this.#check(rule);
    this.#added += 1;
    const id = String(this.#added);
    this.#active.push({ id, rule, left: rule.times ?? null });
    return () => void this.remove(id);
  }

  /** The rules in force, in order. */
  list(): ActiveFault<Rule>[] {
    return this.#active.map((active) => ({ ...active }));
  }

  /** Removes a rule. False if it is not in force. */
  remove(id: string): boolean {
    const before = this.#active.length;
    this.#active = this.#active.filter((active) => active.id !== id);
    return this.#active.length < before;
  }

  /** Removes every rule. */
  clear(): void {
    this.#active = [];
  }

  /** The fault of the first rule that fits, which is used up once; undefined if none does. */
  protected take(fits: (rule: Rule) => boolean, random: Random): Rule["fault"] | undefined {
    for (const active of this.#active) {
      const { probability = 1, fault } = active.rule;
      if (!fits(active.rule) || (probability < 1 && random() >= probability)) continue;
      if (active.left !== null) active.left -= 1;
      if (active.left === 0) this.remove(active.id);
      return fault;
    }
    return undefined;
  }
}
