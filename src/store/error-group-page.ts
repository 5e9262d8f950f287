import type { ErrorGroup, ErrorGroupList, GroupPlace } from "./error-groups.js";

/** A group that was looked at. */
export interface SeenGroup {
  lastAt: number;
  /** Undefined when nothing of it fits the query. */
  group: ErrorGroup | undefined;
}

/** Those from the place on, of groups in their order. */
export function groupsFrom<Group extends { lastAt: number }>(groups: readonly Group[], place: GroupPlace): Group[] {
  let left = place.behind;
  return groups.filter(({ lastAt }) => lastAt < place.fromAt || (lastAt === place.fromAt && left-- <= 0));
}

/** A page of those that were looked at from the place on. There are more when one more of them fits. */
export function pageOfGroups(
  seen: readonly SeenGroup[],
  { limit, fromAt, behind }: GroupPlace & { limit: number },
): ErrorGroupList {
  const fitting = seen.flatMap(({ group }, index) => (group === undefined ? [] : [{ group, index }]));
  const items = fitting.slice(0, limit).map(({ group }) => group);
  const passed = seen.slice(0, fitting[limit]?.index ?? 0);
  const last = passed.at(-1);
  if (last === undefined) return { items, nextCursor: null };
  const beside = passed.filter(({ lastAt }) => lastAt === last.lastAt).length;
  return { items, nextCursor: `${last.lastAt}-${beside + (last.lastAt === fromAt ? behind : 0)}` };
}
