/** The numbers of a schema that are locked in this database, and the session of each: for FROM. Takes `:lockClass`. */
export const HELD_LOCKS = `(
    SELECT objid::bigint AS number, pid FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 2 AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND classid = (:lockClass::bigint & 4294967295)::oid
  ) AS held`;
