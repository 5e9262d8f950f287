import type { Caller } from "../api/api-handlers.js";

/** Who did something: a person, by hand or with an app, or an API key. */
export type Actor = { kind: "person"; name: string } | { kind: "key"; id: string };

/** The owner, by hand in the service's app. */
export const OWNER: Actor = { kind: "person", name: "owner" };

/** Who a caller is. */
export function actorOf(caller: Caller): Actor {
  if (caller.kind === "key") return { kind: "key", id: caller.keyId };
  return { kind: "person", name: caller.member ?? "owner" };
}

/** How a list names someone: `@` and a name for a person. `nameOf`: the name of a key; undefined for a deleted one. */
export function actorName(actor: Actor, nameOf: (id: string) => string | undefined): string {
  if (actor.kind === "person") return `@${actor.name}`;
  const name = nameOf(actor.id);
  return name === undefined ? DELETED_KEY : `API key ${name}`;
}

/** What the rows of a key that is no longer there are listed under. */
export const DELETED_KEY = "Deleted key";
