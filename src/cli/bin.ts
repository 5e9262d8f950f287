#!/usr/bin/env node
import { describeOldNode } from "./old-node.js";

// Asked before anything else is loaded, which an old Node would refuse with a stack.
const old = describeOldNode(process.versions.node);
if (old !== undefined) {
  process.stderr.write(`pigeonhole: ${old.message} ${old.fix}\n`);
  process.exit(1);
}
const { main, tellLostOutput } = await import("./main.js");

let lost: NodeJS.ErrnoException | undefined;

// `pigeonhole … | head` closes our output early, which is no error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  // Said at the end: a dev server that cannot print, as on a full disk, still takes deliveries.
  lost ??= error;
});

// Nobody reads what is said then, as in a terminal that was closed; the exit code still tells.
process.stderr.on("error", () => undefined);

const exitCode = await main(process);
// Output to a pipe is written later, and an error of the last write comes a turn later; nothing else is left to wait for.
setImmediate(() =>
  process.stdout.write("", () => {
    const ended = lost === undefined ? exitCode : tellLostOutput(process, lost, exitCode);
    process.stderr.write("", () => process.exit(ended));
  }),
);
