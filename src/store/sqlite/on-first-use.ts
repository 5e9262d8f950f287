import type { Database, Statement } from "better-sqlite3";
import { lazy } from "../../base/lazy.js";

/**
 * A function that is made when it is first called. Most operations are rare, and preparing the statements of all of
 * them takes longer than everything else at the opening of a file.
 */
export function onFirstUse<Input, Output>(make: () => (input: Input) => Output): (input: Input) => Output {
  const made = lazy(make);
  return (input) => made()(input);
}

type Values = unknown[] | object;
type StatementOf<Bound extends Values, Row> = Bound extends unknown[] ? Statement<Bound, Row> : Statement<[Bound], Row>;

/** Prepares statements of a connection like `db.prepare`, each when it is first used. */
export function prepareLater(db: Database) {
  return <Bound extends Values = unknown[], Row = unknown>(sql: string): (() => StatementOf<Bound, Row>) =>
    lazy(() => db.prepare<Bound, Row>(sql) as StatementOf<Bound, Row>);
}
