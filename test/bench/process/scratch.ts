import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { median } from "../stats.js";

/** A directory for the files of this run. */
export interface Scratch {
  readonly directory: string;
  /** A path in it that no other call returned. */
  file(name: string): string;
}

/** Makes the directory; it is removed when the process ends. */
export function createScratch(parent: string): Scratch {
  const directory = mkdtempSync(join(parent, "pigeonhole-bench-"));
  process.on("exit", () => rmSync(directory, { recursive: true, force: true }));
  let files = 0;
  return {
    directory,
    file(name) {
      files += 1;
      return join(directory, `${files}-${name}`);
    },
  };
}

const PROBES = 200;

/** Microseconds that appending 4 KB and fdatasync take here, at the median: what each single commit has to wait for. */
export function measureFsyncMicros(scratch: Scratch): number {
  const descriptor = openSync(scratch.file("fsync-probe"), "w");
  const block = Buffer.alloc(4096, 1);
  const times = Array.from({ length: PROBES }, () => {
    const start = performance.now();
    writeSync(descriptor, block);
    fdatasyncSync(descriptor);
    return (performance.now() - start) * 1000;
  });
  closeSync(descriptor);
  return median(times);
}
