/** What an inbox knows of the ids of events. */
export interface KnownIds {
  /** Those of the ids under which an event is stored, in any order. At most 500 ids in a call. */
  findIds(ids: readonly string[]): Promise<string[]>;
  /**
   * Since when the inbox has the id of every event that it accepted, in milliseconds since 1970: since its first
   * receiver, or as far back as retention has left all ids. Undefined before a receiver has used it.
   */
  idsKnownSince(): Promise<number | undefined>;
}

/** Times that say which ids an inbox has, in milliseconds since 1970; each is null if there is none. */
export interface IdTimes {
  /** When a receiver first used the inbox. */
  begun: number | null;
  /** When the first event was received that is still there. */
  oldest: number | null;
  /** Retention has removed ids of events from before. Some may be left: those with unsettled work stay. */
  removedBefore: number | null;
}

/** See {@link KnownIds.idsKnownSince}. An event may be older than the first noted time of a receiver. */
export function readIdTimes({ begun, oldest, removedBefore }: IdTimes): number | undefined {
  const first = Math.min(begun ?? Infinity, oldest ?? Infinity);
  return first === Infinity ? undefined : Math.max(first, removedBefore ?? first);
}
