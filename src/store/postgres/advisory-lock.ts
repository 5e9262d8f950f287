import { createHash } from "node:crypto";

/** What is locked beside the nodes, whose numbers are higher. `accepting` is shared by all that may take deliveries. */
export const LOCKED = { migration: 1, freezing: 2, accepting: 3, setup: 4, figures: 5 } as const;

/** The lowest number of a node. */
export const FIRST_NODE = 16;

/** The first half of all advisory locks of a schema, so that two schemas of a database have different ones. */
export function lockClassOf(schema: string): number {
  return createHash("sha256").update(`pigeonhole ${schema}`).digest().readInt32BE();
}
