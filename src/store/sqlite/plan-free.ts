/**
 * A bound value as an expression of the same value. The SQLite of better-sqlite3 (STAT4) compiles a statement again at
 * each run when its plan could depend on a bound value, such as that of a LIMIT, which takes several times as long as
 * running it. It does not look into an expression.
 */
export function planFree(parameter: string, type: "number" | "text"): string {
  return type === "number" ? `(${parameter} + 0)` : `(${parameter} || '')`;
}
