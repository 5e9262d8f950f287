import { appendFileSync, existsSync } from "node:fs";
import { resolve } from "node:path";

/** Names a file of variables to an app that `pigeonhole dev` has started; the commands read it as they read `.env`. */
export const DEV_FILE_VARIABLE = "PIGEONHOLE_DEV_FILE";

/** Tells the dev server that has started this process which database it has opened; without its file it has ended. */
export function tellDevServer(database: string): void {
  const file = process.env[DEV_FILE_VARIABLE] ?? "";
  if (existsSync(file)) appendFileSync(file, `DATABASE_FILE='${resolve(database)}'\n`);
}
