import { eventIdOf, inboxIdOf } from "../protocol/inbox-id.js";
import type { InboxOperator } from "./inbox-operator.js";
import { PAGE_LIMIT } from "./inbox-view.js";

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

/** Times that say which ids an inbox has, in milliseconds since 1970; each is null if there is none. */
export interface IdTimes {
  /** When a receiver first used the inbox. */
  begun: number | null;
  /** When the first event was received that is still there. */
  oldest: number | null;
  /** Retention has removed ids of events from before. Some may be left: those with unsettled work stay. */
  removedBefore: number | null;
}

/** See {@link InboxOperator.idsKnownSince}. An event may be older than the first noted time of a receiver. */
export function readIdTimes({ begun, oldest, removedBefore }: IdTimes): number | undefined {
  const first = Math.min(begun ?? Infinity, oldest ?? Infinity);
  return first === Infinity ? undefined : Math.max(first, removedBefore ?? first);
}
