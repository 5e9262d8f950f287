// Loaded before a server by --import. SIGUSR2 starts a sampling heap profile of the main thread; the next one writes it
// to BENCH_HEAP_FILE.
import { renameSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { isMainThread } from "node:worker_threads";

const SAMPLE_EVERY_BYTES = 16_384;

if (isMainThread) {
  const file = process.env.BENCH_HEAP_FILE;
  const session = new Session();
  session.connect();
  let isSampling = false;

  /** Written beside and renamed, so that the file is complete when it is seen. */
  const write = (name, text) => {
    writeFileSync(`${name}.part`, text);
    renameSync(`${name}.part`, name);
  };

  const toggle = async () => {
    if (!isSampling) {
      isSampling = true;
      await session.post("HeapProfiler.startSampling", {
        samplingInterval: SAMPLE_EVERY_BYTES,
        includeObjectsCollectedByMajorGC: true,
        includeObjectsCollectedByMinorGC: true,
      });
      write(`${file}.started`, "");
    } else {
      const { profile } = await session.post("HeapProfiler.stopSampling");
      write(file, JSON.stringify(profile));
    }
  };
  process.on("SIGUSR2", () => void toggle());
}
