import type { InboxOperator } from "./inbox-operator.js";
import { PAGE_LIMIT } from "./inbox-view.js";
import type { OutboxView } from "./outbox.js";
import { eventIdOf, inboxIdOf } from "../protocol/inbox-id.js";

/**
 * A contact event of the call that fails and so keeps back all others; undefined while none does. Calls go out one
 * after the other: the one that is being made, or else the first. That is the one recorded first, unless events of a
 * call have come back from another one.
 */
export async function findCallInFront(
  inbox: Pick<InboxOperator, "listContactEvents">,
): Promise<OutboxView | undefined> {
  // Newest first, with all events of a few calls.
  const ofCalls = (state: "running" | "retrying") => inbox.listContactEvents({ state, limit: PAGE_LIMIT.max });
  const inFront = (await ofCalls("running")).items[0] ?? (await ofCalls("retrying")).items.at(-1);
  return inFront === undefined || inFront.error === null ? undefined : inFront;
}

/** Whether a contact event waits until the call in front has ended. */
export function waitsBehind({ state, dueAt }: OutboxView, inFront: OutboxView | undefined): boolean {
  if (inFront === undefined) return false;
  // Events of one call are due together.
  return state === "pending" || (state === "retrying" && dueAt !== inFront.dueAt);
}

/** What a store knows of a handler's name. */
export interface HandlerLook {
  /** Whether events have work of it. */
  hasWork: boolean;
  /** Whether that is so, or any receiver has had it: a name may be misspelt, or new. */
  isKnown: boolean;
  /** The names that the store knows, in their order. */
  all: string[];
}

export async function lookForHandler(
  inbox: Pick<InboxOperator, "listEvents" | "listHandlers">,
  handler: string,
): Promise<HandlerLook> {
  const hasWork = (await inbox.listEvents({ handler, limit: 1 })).items.length > 0;
  const known = (await inbox.listHandlers()).filter(({ maxAttempts, hasFailed }) => maxAttempts !== null || hasFailed);
  const all = known.map((each) => each.handler);
  return { hasWork, isKnown: hasWork || all.includes(handler), all };
}

/** What tells which events an inbox has. */
export type KnownIds = Pick<InboxOperator, "idsKnownSince" | "listEvents">;

/** Ids of the service, of the workspace whose secret `source` names. */
export interface IdsOfSource {
  source: string;
  ids: readonly string[];
}

/** Those of the ids under which an event is stored, in any order. */
export async function findIds(inbox: Pick<KnownIds, "listEvents">, { source, ids }: IdsOfSource): Promise<string[]> {
  const found: string[] = [];
  for (let from = 0; from < ids.length; from += PAGE_LIMIT.max) {
    const asked = ids.slice(from, from + PAGE_LIMIT.max).map((id) => inboxIdOf(source, id));
    const page = await inbox.listEvents({ ids: asked, limit: PAGE_LIMIT.max });
    found.push(...page.items.map(({ id }) => eventIdOf(id)));
  }
  return found;
}
