import type { Capture } from "../../capture/capture.js";

/* Without node: imports, since the page uses it too. */

/** Marks a capture that was answered 202 and has not reached the app; a later run delivers it. */
export const HELD_TAG = "held";

/** True for a capture that the sender was told is taken, and that the app has not got. */
export function isHeld({ tags }: Pick<Capture, "tags">): boolean {
  return tags.includes(HELD_TAG);
}

/** Tags as somebody wants them: whether the capture is held is not theirs to say. */
export function keepHeldTag(wanted: readonly string[], current: Pick<Capture, "tags">): string[] {
  const free = wanted.filter((tag) => tag !== HELD_TAG);
  return isHeld(current) ? [...free, HELD_TAG] : free;
}
