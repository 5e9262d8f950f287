import { isDeepStrictEqual } from "node:util";
import { PigeonholeError } from "../../base/error.js";
import { type OptionNames, checkOptionNames } from "../../base/option-check.js";
import type { JsonValue } from "../../contract/json-size.js";

/** An automation, as far as events have to do with it. How filters and waits look is not shown; assumed. */
export interface SandboxAutomation {
  /** What `enrolled` lists. */
  id: string;
  /** Name of the event that takes a contact in, matched exactly. */
  trigger: string;
  /** Properties that the event must have with these values. @default none */
  filters?: Readonly<Record<string, JsonValue>>;
  /** Name of the event that a contact waits for, once it was taken in. @default no wait */
  waitsFor?: string;
  /** One that is not live takes nobody in. @default true */
  live?: boolean;
}

/** What an event set going. See docs/service.md#automations. */
export interface Started {
  /** Ids of the automations that took the contact in. */
  enrolled: string[];
  /** Waits that ended. */
  resumed: number;
}

interface Wait {
  contactId: string;
  name: string;
}

const AUTOMATION_NAMES: OptionNames<SandboxAutomation> = {
  id: true,
  trigger: true,
  filters: true,
  waitsFor: true,
  live: true,
};

/** Automations, and the waits of the contacts in them. */
export class Automations {
  readonly #automations: SandboxAutomation[] = [];
  #waits: Wait[] = [];

  /** Throws `invalid_option` for a field that there is not, or without an id or a trigger. */
  add(automation: SandboxAutomation): void {
    checkOptionNames("An automation of the sandbox", automation, AUTOMATION_NAMES);
    const { id, trigger } = automation as { id: unknown; trigger: unknown };
    if (typeof id !== "string" || typeof trigger !== "string") {
      throw new PigeonholeError("invalid_option", "An automation of the sandbox needs id and trigger, both texts.");
    }
    this.#automations.push(automation);
  }

  /** A contact waits for an event, as in an automation that it entered otherwise. */
  addWait(wait: Wait): void {
    this.#waits.push(wait);
  }

  /** Ends waits first: an event that takes a contact in does not end the wait that begins with it. */
  start(event: { contactId: string; name: string; properties: Readonly<Record<string, unknown>> }): Started {
    const { contactId, name, properties } = event;
    const left = this.#waits.filter((wait) => wait.contactId !== contactId || wait.name !== name);
    const resumed = this.#waits.length - left.length;
    this.#waits = left;
    const entered = this.#automations.filter(
      ({ trigger, live = true, filters = {} }) => live && trigger === name && matches(filters, properties),
    );
    for (const { waitsFor } of entered) {
      if (waitsFor !== undefined) this.#waits.push({ contactId, name: waitsFor });
    }
    return { enrolled: entered.map(({ id }) => id), resumed };
  }

  clear(): void {
    this.#automations.length = 0;
    this.#waits = [];
  }
}

function matches(filters: Readonly<Record<string, JsonValue>>, properties: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(filters).every(
    ([name, value]) => Object.hasOwn(properties, name) && isDeepStrictEqual(properties[name], value),
  );
}
