import type { InboxOperator } from "./inbox-operator.js";
import { openInboxFile } from "./sqlite/open-inbox-file.js";

/**
 * Opens the database of a receiver to list, retry and discard its events; the receiver may be running. Rejects with
 * `invalid_argument` for a missing file or an old schema, `not_a_pigeonhole_database` and `schema_too_new`; none of
 * them changes the database.
 */
export function openInbox(file: string): Promise<InboxOperator> {
  return openInboxFile(file);
}
