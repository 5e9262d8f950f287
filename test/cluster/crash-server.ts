import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { runSql, serverUser } from "../support/postgres-process.js";
import { findPostgresPrograms } from "../support/tools.js";

const run = promisify(execFile);

/** Ends the server at once, as a crash does, and starts it again with the same settings. Resolves when it is ready. */
export async function restartAtOnce(dataDirectory: string): Promise<void> {
  const program = join(findPostgresPrograms() ?? "", "pg_ctl");
  await run(program, ["-D", dataDirectory, "-m", "immediate", "-w", "-l", "/dev/null", "restart"], {
    ...serverUser(),
    cwd: dataDirectory,
  });
}

/** Ends the server for good. */
export async function stopAtOnce(dataDirectory: string): Promise<void> {
  const program = join(findPostgresPrograms() ?? "", "pg_ctl");
  await run(program, ["-D", dataDirectory, "-m", "immediate", "-w", "stop"], { ...serverUser(), cwd: dataDirectory });
}

/** Where the server has its data. */
export async function readDataDirectory(url: string): Promise<string> {
  const [row] = await runSql<{ data_directory: string }>(url, "SHOW data_directory");
  return row?.data_directory ?? "";
}
