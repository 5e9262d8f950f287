import { expect, test } from "vitest";
import { acceptAll, newEvent } from "../conformance/fixture.js";
import { type OperatorKind, openBoth } from "./operator-kind.js";

/** Bodies of several events, read at once from outside the receiver. */
export function describeBodiesOfOperator(kind: OperatorKind): void {
  test("a look from outside reads the bodies of several events, and leaves out large and unknown ones", async () => {
    const { store, inbox } = await openBoth(kind);
    await acceptAll(store, ["a", "b"]);
    await acceptAll(store, ["c"], { body: Buffer.alloc(2_000, "x") });
    const bodies = await inbox.readBodies({ ids: ["a", "b", "c", "unknown"], maxBytes: 1_000 });
    expect([...bodies.keys()].toSorted()).toEqual(["a", "b"]);
    expect(Buffer.from(bodies.get("b") ?? []).equals(newEvent("b").body)).toBe(true);
    expect(await inbox.readBodies({ ids: [], maxBytes: 1_000 })).toEqual(new Map());
  });
}
