import type { Clock } from "../base/clock.js";
import { PigeonholeError } from "../base/error.js";
import { WHOLE_CHARACTERS } from "../protocol/envelope.js";
import type { ComparableOutboxEvent } from "../store/outbox.js";
import type { Store } from "../store/store.js";
import type { Lease } from "../store/work.js";

/** Largest value of a step as JSON, in characters. */
const MAX_STEP_LENGTH = 64 * 1024;
/** Longest name of a step, in characters: with the handler's name it is indexed, where PostgreSQL takes 2.7 kB. */
const MAX_STEP_NAME_LENGTH = 500;

type Records = readonly ComparableOutboxEvent[];

/** The steps of one run: those that an earlier one has finished, and those that it finishes. */
export class RunSteps {
  readonly #lease: Lease;
  readonly #deps: { store: Pick<Store<unknown>, "loadSteps" | "saveStep">; clock: Clock };
  readonly #used = new Set<string>();
  #kept: Promise<Record<string, string>> | undefined;

  constructor({ seq, handler, token }: Lease, deps: { store: Store<unknown>; clock: Clock }) {
    this.#lease = { seq, handler, token };
    this.#deps = deps;
  }

  /** Begins a step. Resolves with what an earlier run has kept of it, if one has. Rejects as the store does. */
  async begin(name: string): Promise<{ value: unknown; records?: Records } | undefined> {
    checkStepName(name);
    if (this.#used.has(name)) {
      const text = `Step "${name}" of handler "${this.#lease.handler}" was used twice in one run.`;
      throw new PigeonholeError("duplicate_step", text);
    }
    this.#used.add(name);
    // Also in attempt 1: the inbox's retry starts the count again and keeps the steps.
    this.#kept ??= this.#deps.store.loadSteps(this.#lease);
    const kept = await this.#kept;
    const text = Object.hasOwn(kept, name) ? kept[name] : undefined;
    return text === undefined ? undefined : (JSON.parse(text) as { value: unknown; records?: Records });
  }

  /** Keeps what a step returned, and what was recorded in it. Rejects as the store does. */
  async keep(name: string, value: unknown, records: Records | undefined): Promise<void> {
    const { store, clock } = this.#deps;
    const saved = await store.saveStep(this.#lease, name, toStepJson(name, value, records), clock.now());
    if (saved !== "lost") return;
    const text = `The lease of handler "${this.#lease.handler}" ended before step "${name}" was kept.`;
    throw new PigeonholeError("lease_lost", text);
  }
}

function toStepJson(name: string, value: unknown, records: Records | undefined): string {
  const of = `The value of step "${name}"`;
  let text: string;
  try {
    text = JSON.stringify({ value });
  } catch (cause) {
    throw new PigeonholeError("step_not_json", `${of} cannot be written as JSON.`, { cause });
  }
  if (text.length > MAX_STEP_LENGTH) {
    const most = `has ${text.length} characters as JSON; ${MAX_STEP_LENGTH} is the most. Keep a reference instead.`;
    throw new PigeonholeError("step_not_json", `${of} ${most}`);
  }
  // Records do not count towards the limit: each has one of its own.
  return records === undefined || records.length === 0 ? text : JSON.stringify({ value, records });
}

/** The store would change a number or half a surrogate pair in a name, and each attempt would repeat the step. */
function checkStepName(name: unknown): void {
  const isText = typeof name === "string";
  if (isText && name.length <= MAX_STEP_NAME_LENGTH && WHOLE_CHARACTERS.test(name)) return;
  const got = isText ? `${name.length}: ${JSON.stringify(name.slice(0, 50))}` : typeof name;
  const text = `A step's name must have at most ${MAX_STEP_NAME_LENGTH} whole characters, got ${got}.`;
  throw new PigeonholeError("invalid_argument", `${text} Name it for what it does, and keep data in its value.`);
}
