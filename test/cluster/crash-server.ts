import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";
import { findPostgresPrograms, isRoot } from "../support/tools.js";

const run = promisify(execFile);
const OTHER_USER = 65_534;

/** Ends the server at once, as a crash does, and starts it again with the same settings. Resolves when it is ready. */
export async function restartAtOnce(dataDirectory: string): Promise<void> {
  const user = isRoot() ? { uid: OTHER_USER, gid: OTHER_USER } : {};
  const program = join(findPostgresPrograms() ?? "", "pg_ctl");
  await run(program, ["-D", dataDirectory, "-m", "immediate", "-w", "-l", "/dev/null", "restart"], {
    ...user,
    cwd: dataDirectory,
  });
}

/** Ends the server for good. */
export async function stopAtOnce(dataDirectory: string): Promise<void> {
  const user = isRoot() ? { uid: OTHER_USER, gid: OTHER_USER } : {};
  const program = join(findPostgresPrograms() ?? "", "pg_ctl");
  await run(program, ["-D", dataDirectory, "-m", "immediate", "-w", "stop"], { ...user, cwd: dataDirectory });
}

/** Where the server has its data. */
export async function readDataDirectory(url: string): Promise<string> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ data_directory: string }>("SHOW data_directory");
    return rows[0]?.data_directory ?? "";
  } finally {
    await client.end();
  }
}
