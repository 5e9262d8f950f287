// Signs a sample event and posts it to the dev server; arguments are those of `pigeonhole trigger`.
import { spawn } from "node:child_process";
import { DEV_PORT, PATH, pigeonhole } from "./local.mjs";

const args = [pigeonhole, "trigger", "--to", `${DEV_PORT}${PATH}`, ...process.argv.slice(2)];
const child = spawn(process.execPath, args, { stdio: "inherit" });
child.once("exit", (code) => {
  process.exitCode = code ?? 1;
});
