import { type Capture, HELD_TAG } from "../../capture/model/capture.js";

/* Without node: imports, since the page uses it too. */

/** True for a capture that was answered 2xx and that the app has not received. */
export function isHeld({ tags }: Pick<Capture, "tags">): boolean {
  return tags.includes(HELD_TAG);
}

/** The tags that the user has set. */
export function userTags({ tags }: { tags: readonly string[] }): string[] {
  return tags.filter((tag) => tag !== HELD_TAG);
}

/** Sets the user's tags. They cannot change whether the capture is held. */
export function keepHeldTag(wanted: readonly string[], current: Pick<Capture, "tags">): string[] {
  const tags = userTags({ tags: wanted });
  return isHeld(current) ? [...tags, HELD_TAG] : tags;
}
