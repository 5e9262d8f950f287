// What the scripts share: the ports of this machine, which .env can change, and the command.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

if (existsSync(".env")) process.loadEnvFile(".env");

export const {
  PORT = "3000",
  DEV_PORT = "4400",
  DEV_PAGE_PORT = "4401",
  SANDBOX_PORT = "4410",
  DATABASE_FILE = "data/inbox.db",
} = process.env;

export const PATH = "/webhooks/mail";

export const pigeonhole = fileURLToPath(new URL("dist/cli/bin.js", import.meta.resolve("pigeonhole/package.json")));
