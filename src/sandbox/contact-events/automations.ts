import { isDeepStrictEqual } from "node:util";
import { PigeonholeError } from "../../base/error.js";
import { type OptionsOf, type Resolved, defineOptions, flag, given, required } from "../../base/options.js";
import type { JsonValue } from "../../contract/json-size.js";

/** The part of an automation that concerns events. The form of filters and waits is not documented; assumed. */
export interface SandboxAutomation {
  /** The id listed in `enrolled`. */
  id: string;
  /** Name of the event that enrolls a contact, matched exactly. */
  trigger: string;
  /** Properties that the event must have with these values. @default none */
  filters?: Readonly<Record<string, JsonValue>> | undefined;
  /** Name of the event that an enrolled contact waits for. @default no wait */
  waitsFor?: string | undefined;
  /** An automation that is not live enrolls no contact. @default true */
  live?: boolean | undefined;
}

/** What an event started. See docs/service.md#automations. */
export interface Started {
  /** Ids of the automations that enrolled the contact. */
  enrolled: string[];
  /** Waits that ended. */
  resumed: number;
}

interface AutomationWait {
  contactId: string;
  name: string;
}

/** The defaults and checks of {@link SandboxAutomation}. */
export const AUTOMATION_OPTIONS = defineOptions("An automation of the sandbox", {
  id: required<string>(),
  trigger: required<string>(),
  filters: given<Readonly<Record<string, JsonValue>>>({ default: {} }),
  waitsFor: given<string>(),
  live: flag({ default: true }),
} satisfies OptionsOf<SandboxAutomation>);

/** Automations, and the waits of the contacts in them. */
export class Automations {
  readonly #automations: Resolved<typeof AUTOMATION_OPTIONS>[] = [];
  #waits: AutomationWait[] = [];

  /** Throws `invalid_option` for an unknown field, or without an id or a trigger. */
  add(automation: SandboxAutomation): void {
    const resolved = AUTOMATION_OPTIONS.resolve(automation);
    const { id, trigger } = resolved as { id: unknown; trigger: unknown };
    if (typeof id !== "string" || typeof trigger !== "string") {
      throw new PigeonholeError("invalid_option", "An automation of the sandbox needs id and trigger, both strings.");
    }
    this.#automations.push(resolved);
  }

  /** Makes a contact wait for an event, as in an automation that it entered in another way. */
  addWait(wait: AutomationWait): void {
    this.#waits.push(wait);
  }

  /** Ends waits first, so that the event that enrolls a contact does not end the wait that it begins. */
  start(event: { contactId: string; name: string; properties: Readonly<Record<string, unknown>> }): Started {
    const { contactId, name, properties } = event;
    const left = this.#waits.filter((wait) => wait.contactId !== contactId || wait.name !== name);
    const resumed = this.#waits.length - left.length;
    this.#waits = left;
    const entered = this.#automations.filter(
      ({ trigger, live, filters }) => live && trigger === name && matches(filters, properties),
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
