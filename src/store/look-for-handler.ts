import type { InboxOperator } from "./inbox-operator.js";

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
