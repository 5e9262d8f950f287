import { errorMessage } from "../../base/error-text.js";
import { PigeonholeError, isPigeonholeError } from "../../base/error.js";
import { type Capture, type CaptureAttempt, type CaptureSummary, recordAttempt } from "../../capture/model/capture.js";
import type { CaptureFolder, FolderWatcher } from "../../capture/folder/capture-folder.js";
import { summarizeCapture } from "../../capture/model/summarize-capture.js";
import type { Report } from "../lines/dev-event.js";

/** Receives the changes of the folder, for the page. */
export interface CaptureWatcher {
  changed(summary: CaptureSummary): void;
  removed(ids: string[]): void;
}

/** The capture folder, with a watcher that is told of its changes. */
export interface CaptureLog {
  readonly folder: CaptureFolder;
  /** Throws `no_capture`. */
  readonly get: (id: string) => Capture;
  /** True once the capture is on disk; false if it could not be written, which is reported. */
  keep(capture: Capture): Promise<boolean>;
  /** Adds an attempt to a capture and returns both; also works for a capture that was removed meanwhile. */
  addAttempt(
    capture: Capture,
    attempt: Omit<CaptureAttempt, "n">,
  ): Promise<{ capture: Capture; attempt: CaptureAttempt }>;
  /** Changes a capture; undefined if it was removed, or could not be written, which is reported. */
  change(id: string, change: (capture: Capture) => Capture): Promise<Capture | undefined>;
  remove(ids: readonly string[]): Promise<number>;
  /** Follows what other processes write to the folder, such as `pigeonhole replay`. Returns a function that ends it. */
  watch(): () => void;
}

export function createCaptureLog(deps: { folder: CaptureFolder; watcher: CaptureWatcher; report: Report }): CaptureLog {
  const { folder, watcher, report } = deps;

  function complain(error: unknown): void {
    report({
      kind: "problem",
      what: `A capture could not be written to ${folder.path}: ${errorMessage(error)}`,
      fix: "Free space on the disk, or make the folder writable.",
    });
  }

  async function change(id: string, apply: (capture: Capture) => Capture): Promise<Capture | undefined> {
    if (folder.get(id) === undefined) return undefined;
    try {
      const changed = await folder.update(id, apply);
      watcher.changed(summarizeCapture(changed));
      return changed;
    } catch (error) {
      // Deleted by another process meanwhile: the watcher was told.
      if (isPigeonholeError(error) && error.code === "no_capture") return undefined;
      complain(error);
      return undefined;
    }
  }

  return {
    folder,
    get: (id) => getKept(folder, id),
    change,
    async keep(capture) {
      try {
        const { removed } = await folder.add(capture);
        watcher.changed(summarizeCapture(capture));
        if (removed.length > 0) watcher.removed(removed);
        return true;
      } catch (error) {
        complain(error);
        watcher.changed(summarizeCapture(capture));
        return false;
      }
    },
    async addAttempt(capture, made) {
      let attempt: CaptureAttempt = { n: 1, ...made };
      const append = (current: Capture): Capture => {
        const changed = recordAttempt(current, made);
        attempt = changed.attempts.at(-1) ?? attempt;
        return changed;
      };
      const changed = (await change(capture.id, append)) ?? append(capture);
      return { capture: changed, attempt };
    },
    async remove(ids) {
      const known = ids.filter((id) => folder.get(id) !== undefined);
      const removed = await folder.remove(known);
      if (removed > 0) watcher.removed(known);
      return removed;
    },
    watch: () => folder.watch(followOthers(watcher, report)),
  };
}

function getKept(folder: CaptureFolder, id: string): Capture {
  const capture = folder.get(id);
  if (capture !== undefined) return capture;
  throw new PigeonholeError("no_capture", `There is no capture "${id}"; it may have been removed.`);
}

/** What other processes do to the folder. */
function followOthers(watcher: CaptureWatcher, report: Report): FolderWatcher {
  return {
    removed: (ids) => watcher.removed(ids),
    changed(capture, before) {
      const summary = summarizeCapture(capture);
      watcher.changed(summary);
      if (before === undefined) return;
      const seen = before.attempts.at(-1)?.n ?? 0;
      for (const attempt of capture.attempts) {
        if (attempt.n > seen) report({ kind: "replayed", capture: summary, attempt });
      }
    },
  };
}
