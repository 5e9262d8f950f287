import { type ClientBase, type QueryConfig, type QueryResult, types } from "pg";
import { PigeonholeError } from "../../base/error.js";
import type { StoreQuery } from "../queries/store-query.js";
import { inSchema } from "./in-schema.js";
import { hasNoAnswer } from "./store-error.js";

const TEXT_ARRAY = 1009;

type Parser = (value: string) => unknown;

/** The driver's own parsers; its types know no arrays. */
const getTypeParser = types.getTypeParser as (type: number, format?: string) => Parser;
const parseArray = getTypeParser(TEXT_ARRAY);

/** Parsers by type, which do not depend on what the application has set for its own queries. */
const PARSERS = new Map<number, Parser>([
  [types.builtins.TEXT, fromStoredText],
  [types.builtins.VARCHAR, fromStoredText],
  // Times and numbers of rows, all below 2^53.
  [types.builtins.INT8, Number],
  [types.builtins.NUMERIC, Number],
  [types.builtins.INT4, Number],
  [types.builtins.BOOL, (value) => value === "t"],
  [TEXT_ARRAY, (value) => (parseArray(value) as (string | null)[]).map((item) => item && fromStoredText(item))],
]);

const TYPES = {
  getTypeParser: (type: number, format?: string) => PARSERS.get(type) ?? getTypeParser(type, format),
};

interface Statement {
  text: string;
  names: readonly string[];
  /** Under which a connection can keep its plan. */
  planName: string;
}

/**
 * SQL of this room in the form that PostgreSQL takes. It is written with `:name` for parameters, and with the schema
 * `pigeonhole.` before each name, since the search path may be any.
 */
export class Statements {
  readonly #schema: string;
  readonly #read = new Map<string, Statement>();

  constructor(schema: string) {
    this.#schema = schema;
  }

  read(written: string): Statement {
    let statement = this.#read.get(written);
    if (statement === undefined) {
      statement = { ...readStatement(written, this.#schema), planName: `pigeonhole_${this.#read.size}` };
      this.#read.set(written, statement);
    }
    return statement;
  }
}

function readStatement(written: string, schema: string): Omit<Statement, "planName"> {
  const names: string[] = [];
  const text = inSchema(written, schema).replaceAll(/(?<![:\w]):([a-z]\w*)/gi, (_, name: string) => {
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return { text, names };
}

/**
 * Whatever the defaults of the role or the database are: a commit is on the disk, and on the standby if there is a
 * synchronous one. `remote_apply` waits for still more and is left.
 */
export function setDurable(isForTransaction: boolean): string {
  const level = "CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END";
  return `set_config('synchronous_commit', ${level}, ${isForTransaction})`;
}

const IDLE = "idle_in_transaction_session_timeout";

/**
 * After this the server ends the transaction when nothing is done in it: its process may stand still, or its machine be
 * gone. A shorter limit of the role or the connection stays.
 */
function endIdle(afterMs: number): string {
  const now = `current_setting('${IDLE}')`;
  const isShorter = `${now} <> '0' AND ${now}::interval < interval '${afterMs} milliseconds'`;
  return `set_config('${IDLE}', CASE WHEN ${isShorter} THEN ${now} ELSE '${afterMs}' END, true)`;
}

const BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED";

export interface SqlOptions {
  /** A statement that has no answer after this time, in milliseconds, fails, and the connection is lost. */
  answerMs?: number;
  /**
   * After this the server ends a transaction in which nothing is done, in milliseconds. Where it is not given, that is
   * as the session has it.
   */
  idleMs?: number;
  /** True where the connection is used by this process alone, and so can keep plans. @default false */
  keepsPlans?: boolean;
}

export class Sql {
  readonly #client: ClientBase;
  readonly #statements: Statements;
  readonly #answerMs: number | undefined;
  readonly #idleMs: number | undefined;
  readonly #keepsPlans: boolean;

  constructor(client: ClientBase, statements: Statements, { answerMs, idleMs, keepsPlans = false }: SqlOptions = {}) {
    this.#client = client;
    this.#statements = statements;
    this.#answerMs = answerMs;
    this.#idleMs = idleMs;
    this.#keepsPlans = keepsPlans;
  }

  async rows<Row extends object>(written: string, values: object = {}): Promise<Row[]> {
    return (await this.#query(written, values)).rows as Row[];
  }

  async row<Row extends object>(written: string, values: object = {}): Promise<Row | undefined> {
    return (await this.rows<Row>(written, values))[0];
  }

  /** As `rows`, for a statement that runs all the time: to plan it costs more than to run it. */
  async keptRows<Row extends object>(written: string, values: object): Promise<Row[]> {
    const name = this.#keepsPlans ? { name: this.#statements.read(written).planName } : {};
    return (await this.#query(written, values, name)).rows as Row[];
  }

  /** The number of rows that the statement changed, or found. */
  async run(written: string, values: object = {}): Promise<number> {
    return (await this.#query(written, values)).rowCount ?? 0;
  }

  /** Runs a query that is written for both databases; in the transaction that is open. */
  async perform<Value>(query: StoreQuery<Value>): Promise<Value> {
    let step = query.next();
    while (step.done !== true) {
      const { rows, rowCount } = await this.#query(step.value.sql, step.value.values);
      step = query.next({ rows: rows as object[], count: rowCount ?? 0 });
    }
    return step.value;
  }

  /** Several statements in one round trip, without parameters. */
  async script(written: string): Promise<void> {
    await this.#client.query(this.#limited({ text: this.#statements.read(written).text }));
  }

  /** Begins a transaction that is durable once it is committed, on a connection with any settings. */
  begin(): Promise<void> {
    const settings = [setDurable(true), ...(this.#idleMs === undefined ? [] : [endIdle(this.#idleMs)])];
    return this.script(`${BEGIN}; SELECT ${settings.join(", ")}`);
  }

  /** Begins a transaction with a statement in one round trip: its values are written into the SQL. */
  async beginWith<Row extends object>(written: string, values: object): Promise<Row | undefined> {
    const { text, names } = this.#statements.read(written);
    const given = values as Record<string, unknown>;
    const literals = names.map((name) => this.#literalOf(given[name]));
    const filled = text.replaceAll(/\$(\d+)/g, (_, place: string) => literals[Number(place) - 1] ?? "NULL");
    const bound = this.#idleMs === undefined ? "" : `SELECT ${endIdle(this.#idleMs)}; `;
    const answers: unknown = await this.#client.query(
      this.#limited({ text: `${BEGIN}; ${bound}${filled}`, types: TYPES }),
    );
    // The driver's types know one statement only.
    return (answers as QueryResult<Row>[]).at(-1)?.rows[0];
  }

  /** Does the work in a transaction; when it throws, nothing is written. */
  async transaction<Value>(work: () => Promise<Value>): Promise<Value> {
    let value: Value;
    try {
      await this.begin();
      value = await work();
    } catch (error) {
      // Where the server has not answered, it would not answer this either.
      if (!hasNoAnswer(error)) await this.script("ROLLBACK");
      throw error;
    }
    // In a transaction of which a statement failed, COMMIT succeeds and takes everything back.
    const { command } = await this.#client.query(this.#limited({ text: "COMMIT" }));
    if (command !== "COMMIT") {
      throw new PigeonholeError("store_failed", "A statement failed, so PostgreSQL took the transaction back.");
    }
    return value;
  }

  #query(written: string, values: object, name: { name?: string } = {}): Promise<QueryResult> {
    const { text, names } = this.#statements.read(written);
    const given = values as Record<string, unknown>;
    return this.#client.query(
      this.#limited({ ...name, text, values: names.map((name) => toStored(given[name])), types: TYPES }),
    );
  }

  #literalOf(value: unknown): string {
    return typeof value === "string" ? this.#client.escapeLiteral(toStoredText(value)) : JSON.stringify(value);
  }

  /** The driver's types do not know this field. */
  #limited(query: QueryConfig): QueryConfig {
    const limit: object = this.#answerMs === undefined ? {} : { query_timeout: this.#answerMs };
    return { ...query, ...limit };
  }
}

function toStored(value: unknown): unknown {
  if (typeof value === "string") return toStoredText(value);
  return Array.isArray(value) ? value.map(toStored) : value;
}

const NUL = "\0";
const ESCAPE = "\u0001";
const ESCAPED_NUL = `${ESCAPE}\u0002`;
const ESCAPED_ESCAPE = `${ESCAPE}\u0003`;

/**
 * PostgreSQL refuses U+0000 in a text, and an event with one in its id must be stored and recognised as any other. Two
 * different texts are stored as different texts.
 */
export function toStoredText(text: string): string {
  if (!text.includes(NUL) && !text.includes(ESCAPE)) return text;
  return text.replaceAll(ESCAPE, ESCAPED_ESCAPE).replaceAll(NUL, ESCAPED_NUL);
}

export function fromStoredText(stored: string): string {
  if (!stored.includes(ESCAPE)) return stored;
  return stored.replaceAll(ESCAPED_NUL, NUL).replaceAll(ESCAPED_ESCAPE, ESCAPE);
}
