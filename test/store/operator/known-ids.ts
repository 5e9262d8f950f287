import { expect, test } from "vitest";
import { findIds } from "#pigeonhole/store/known-ids.js";
import { acceptAll, NOTHING_TO_PRUNE, T } from "../conformance/fixture.js";
import { type OperatorKind, openBoth } from "./operator-kind.js";

/** What the inbox knows of ids, from outside the receiver. */
export function describeKnownIdsOfOperator(kind: OperatorKind): void {
  test("a look from outside finds the ids of events, and since when all are known", async () => {
    const { store, inbox } = await openBoth(kind);
    expect([await findIds(inbox, ["a"]), await inbox.idsKnownSince()]).toEqual([[], undefined]);
    await acceptAll(store, ["a", "b"]);
    expect((await findIds(inbox, ["a", "c", "b"])).toSorted()).toEqual(["a", "b"]);
    expect(await inbox.idsKnownSince()).toBe(T);
    await store.prune({ ...NOTHING_TO_PRUNE, idsBefore: T + 1 });
    expect(await inbox.idsKnownSince()).toBe(T + 1);
  });
}
