import type { Capture, CapturedBody } from "../model/capture.js";
import { bodySize } from "../model/captured-body.js";
import { findSubject } from "../model/summarize-capture.js";

/** Shorter bodies stay in memory, so that searches in usual ones read no files. */
const MAX_KEPT_BYTES = 16 * 1024;

/** Removes long bodies of a capture from memory. `read` reads its file, each time that one of them is looked at. */
export function shelveBodies(capture: Capture, read: () => Capture): void {
  // Lists need it of all captures; it is remembered with the body, as its size is.
  if (bodySize(capture.request.body) > MAX_KEPT_BYTES) findSubject(capture);
  shelve(capture.request.body, () => read().request.body);
  for (const { n, body, sentBody } of capture.attempts) {
    const readAttempt = () => read().attempts.find((attempt) => attempt.n === n);
    shelve(body, () => readAttempt()?.body);
    shelve(sentBody, () => readAttempt()?.sentBody);
  }
}

function shelve(body: CapturedBody | null, read: () => CapturedBody | null | undefined): void {
  if (body === null || bodySize(body) <= MAX_KEPT_BYTES) return;
  Object.defineProperty(body, "data", { configurable: true, enumerable: true, get: () => read()?.data ?? "" });
}
