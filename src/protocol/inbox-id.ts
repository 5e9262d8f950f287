/* Without node: imports, since the page uses it too. */

/** Between the name of a source and what is unique in it. */
const MARK = "/";

/**
 * What a name of a source is: no secret fits, which is longer, and no flag of a command. Empty is the source that
 * secrets without names have.
 */
export const SOURCE_NAME = /^(?:[A-Za-z0-9][\w.-]{0,39})?$/;

/** Says so, after the name of an option. */
export const SOURCE_NAME_RULE = "have at most 40 letters, digits, `_`, `.` and `-`, and begin with a letter or a digit";

/**
 * What an id, or another text that is unique in one source, is among all of them: after the source's name and a slash.
 * Without a name it stays as it is, unless it has a slash of its own: so no two are ever the same.
 */
export function inboxIdOf(source: string, id: string): string {
  return source === "" && !id.includes(MARK) ? id : source + MARK + id;
}

/** The name of the source of such an id; empty without one. */
export function sourceNameOf(inboxId: string): string {
  return inboxId.slice(0, Math.max(0, inboxId.indexOf(MARK)));
}

/** The id that the service gave. */
export function eventIdOf(inboxId: string): string {
  return inboxId.slice(inboxId.indexOf(MARK) + 1);
}
