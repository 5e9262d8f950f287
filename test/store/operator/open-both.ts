import { expect, onTestFinished } from "vitest";
import type { InboxOperator } from "#pigeonhole/store/inbox-operator.js";
import { openInbox } from "#pigeonhole/store/open-inbox.js";
import type { Store } from "#pigeonhole/store/store.js";
import type { StoreKind } from "../conformance/fixture.js";
import { context, T } from "../conformance/new-event.js";

/** A store that is open as that of a receiver, and a look at it from outside; both are closed after the test. */
export async function openBoth(kind: StoreKind) {
  const { store, place = expect.unreachable(), execute, ...opened } = await kind.create();
  onTestFinished(() => opened.dispose());
  await store.open(context);
  onTestFinished(() => store.close());
  await store.recover(T);
  return { store: store as Store, inbox: await openAnother(place), place, execute };
}

/** One more look at the same store. */
export async function openAnother(place: string): Promise<InboxOperator> {
  const inbox = await openInbox(place);
  onTestFinished(() => inbox.close());
  return inbox;
}
