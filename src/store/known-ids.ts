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
