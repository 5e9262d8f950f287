import { type Capture, HELD_TAG } from "../../capture/capture.js";

/* Without node: imports, since the page uses it too. */

/** True for a capture that the sender was told is taken, and that the app has not got. */
export function isHeld({ tags }: Pick<Capture, "tags">): boolean {
  return tags.includes(HELD_TAG);
}

/** The tags that somebody has written. */
export function freeTags({ tags }: { tags: readonly string[] }): string[] {
  return tags.filter((tag) => tag !== HELD_TAG);
}

/** Tags as somebody wants them: whether the capture is held is not theirs to say. */
export function keepHeldTag(wanted: readonly string[], current: Pick<Capture, "tags">): string[] {
  const free = freeTags({ tags: wanted });
  return isHeld(current) ? [...free, HELD_TAG] : free;
}
