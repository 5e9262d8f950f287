import { watch, type FSWatcher } from "node:fs";

/** One write causes several events. Those within this time are handled together. */
const SETTLE_MS = 30;
/** Interval of polling, if the system cannot watch a folder. */
const POLL_INTERVAL_MS = 1_000;

/**
 * Reports which `*.json` of a folder may have changed, by name, or `all` if that is not known. Does not keep the
 * process alive. Returns a function that ends it.
 */
export function watchJsonFiles(folder: string, notify: (names: ReadonlySet<string> | "all") => void): () => void {
  let names = new Set<string>();
  let isAll = false;
  let settling: NodeJS.Timeout | undefined;
  let polling: NodeJS.Timeout | undefined;
  let watcher: FSWatcher | undefined;

  function flush(): void {
    settling = undefined;
    const changed = isAll ? "all" : names;
    names = new Set();
    isAll = false;
    notify(changed);
  }

  function addChange(name: string | null): void {
    if (name === null) isAll = true;
    else if (name.endsWith(".json")) names.add(name);
    else return;
    settling ??= setTimeout(flush, SETTLE_MS).unref();
  }

  function poll(): void {
    watcher?.close();
    polling ??= setInterval(() => notify("all"), POLL_INTERVAL_MS).unref();
  }

  try {
    watcher = watch(folder, { persistent: false }, (_, name) => addChange(name));
    watcher.on("error", poll);
  } catch {
    // Such as a limit on watched folders, or a network drive.
    poll();
  }

  return () => {
    watcher?.close();
    clearTimeout(settling);
    clearInterval(polling);
  };
}
