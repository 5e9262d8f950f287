/**
 * Assignments to columns that only a server has, where several processes run the handlers and make the calls. They are
 * left out on SQLite.
 */
export const SERVER_COLUMNS = {
  noKey: "key = NULL, waits_for_key = false, ",
  ofNode: "process = :node, ",
  noNode: "process = NULL, ",
} as const;

/** Work that waits for a time. That which waits for a key is found by the key; on SQLite there is none. */
export const WAITS = "state = 'pending' AND NOT waits_for_key";
