#!/usr/bin/env node
import { describeOldNode } from "./old-node.js";

// Checked before anything else is loaded, since an old Node would fail there with a stack trace.
const old = describeOldNode(process.versions.node);
if (old !== undefined) {
  process.stderr.write(`pigeonhole: ${old.message} ${old.fix}\n`);
  process.exit(1);
}
const { main, reportLostOutput } = await import("./main.js");

let lost: NodeJS.ErrnoException | undefined;

// `pigeonhole … | head` closes our output early, which is not an error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  // Reported at the end: a dev server that cannot print, as on a full disk, still receives deliveries.
  lost ??= error;
});

// The output is not read any more, as in a closed terminal. The exit code still shows the failure.
process.stderr.on("error", () => undefined);

const exitCode = await main(process);
// Output to a pipe is written later, and an error of the last write comes one turn later. There is nothing else to wait
// for.
setImmediate(() =>
  process.stdout.write("", () => {
    const ended = lost === undefined ? exitCode : reportLostOutput(process, lost, exitCode);
    process.stderr.write("", () => process.exit(ended));
  }),
);
