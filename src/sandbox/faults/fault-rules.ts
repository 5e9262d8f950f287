import { z } from "zod";
import { PigeonholeError } from "../../base/error.js";
import type { Random } from "../../base/random.js";
import { checkInput } from "../../contract/check-input.js";
import { wholeNumberOf } from "../../contract/shapes.js";

const probability = { error: "Must be a number from 0 to 1." };

/** The fields that the rules of both lists of faults share. */
export const commonRule = {
  /** How likely the fault is for what matches, 0 to 1; the seed decides. @default 1 */
  probability: z.number(probability).min(0, probability).max(1, probability).optional(),
  /** How often the fault happens before the rule ends. @default no limit */
  times: wholeNumberOf(1, Number.MAX_SAFE_INTEGER).optional(),
};

/** The header Retry-After as it is sent. */
export const retryAfter = z
  .string()
  .regex(/^[ -~]{1,100}$/, { error: 'Must be seconds such as "120", or an HTTP date.' })
  .optional();

/** A rule, of either list. */
type FaultRule = { fault: object } & z.input<z.ZodObject<typeof commonRule>>;

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
export class FaultRules<Rule extends FaultRule> {
  readonly #schema: z.ZodType<unknown, Rule>;
  #active: ActiveFault<Rule>[] = [];
  #added = 0;

  /** `schema`: of a rule. Its objects are strict: a misspelt field would make a rule match more than intended. */
  constructor(schema: z.ZodType<unknown, Rule>) {
    this.#schema = schema;
  }

  /** Adds a rule; throws `invalid_argument` for an invalid one. Returns a function that removes it. */
  add(rule: Rule): () => void {
    const checked = checkInput(this.#schema, rule);
    if (!checked.ok) {
      const { param, message } = checked.issue;
      throw new PigeonholeError("invalid_argument", `The rule cannot be used: ${param}: ${message}`);
    }
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
      const { probability: share = 1, fault } = active.rule;
      if (!fits(active.rule) || (share < 1 && random() >= share)) continue;
      if (active.left !== null) active.left -= 1;
      if (active.left === 0) this.remove(active.id);
      return fault;
    }
    return undefined;
  }
}
