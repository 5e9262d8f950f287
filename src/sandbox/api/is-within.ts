/** True for a time at or after `since` and before `until`, each of which may be left out. */
export function isWithin(
  time: string | number,
  { since, until }: { since?: string | undefined; until?: string | undefined },
): boolean {
  const atMs = new Date(time).getTime();
  return (since === undefined || atMs >= Date.parse(since)) && (until === undefined || atMs < Date.parse(until));
}
