#!/usr/bin/env node
import { main } from "./main.js";

// `pigeonhole … | head` closes our output early, which is no error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

// Nobody reads what is said then; the exit code still tells.
process.stderr.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

const exitCode = await main(process);
// Output to a pipe is written later; nothing else is left to wait for.
process.stdout.write("", () => process.stderr.write("", () => process.exit(exitCode)));
