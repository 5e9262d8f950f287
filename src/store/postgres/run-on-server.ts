import type { StoreQuery } from "../queries/store-query.js";
import type { Sql } from "./sql.js";

/** Runs a query on a connection; in the transaction that is open there. */
export async function runOnServer<Value>(sql: Sql, query: StoreQuery<Value>): Promise<Value> {
  let step = query.next();
  while (step.done !== true) step = query.next(await sql.answer(step.value.sql, step.value.values));
  return step.value;
}
