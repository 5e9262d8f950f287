import type { HandlerPolicy } from "../../store.js";
import type { Sql } from "../sql.js";

/** Writes policies. Those that stay the same are not written, so that most starts write nothing. */
export async function writePolicies(sql: Sql, policies: readonly HandlerPolicy[]): Promise<void> {
  await sql.run(
    `INSERT INTO pigeonhole.inbox_handler AS h (handler, max_attempts)
     SELECT * FROM unnest(:handlers::text[], :mosts::integer[]) AS given (handler, max_attempts) ORDER BY handler
     ON CONFLICT (handler) DO UPDATE SET max_attempts = excluded.max_attempts
       WHERE h.max_attempts <> excluded.max_attempts`,
    { handlers: policies.map(({ handler }) => handler), mosts: policies.map(({ maxAttempts }) => maxAttempts) },
  );
}
