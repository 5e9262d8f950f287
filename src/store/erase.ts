/** What is to be erased. */
export interface EraseOptions {
  /** One address, such as `ann@example.com`, in any case. */
  email: string;
  /** Counts, and changes nothing. @default false */
  dryRun?: boolean | undefined;
}

/** How much was erased, or with `dryRun` would be. */
export interface EraseCounts {
  /** Events that lost their body, the values of their steps and their error texts. */
  events: number;
  /** Pieces of work that ended without a run, since their event mentions the address. */
  work: number;
  /** Events that are being handled; they keep what they have until then. */
  eventsLeft: number;
  /** Contact events that lost everything but their name; those that waited or were dead are discarded. */
  contactEvents: number;
  /** Contact events of a call that is being made, or that may have to be repeated unchanged. */
  contactEventsLeft: number;
  /** Jobs of the dashboard that lost the text by which a person chose their work, whatever it says. */
  jobs: number;
  /** Open jobs that still choose their work by such a text. */
  jobsLeft: number;
}

/** Where the next page begins. What is stored after the first page of a list is not part of the round. */
export interface EraseCursor {
  /** The list that the next page is of; they come in this order. */
  list: "events" | "contactEvents" | "jobs";
  /** The place of the last row that was looked at. */
  afterSeq: number;
  /** The place of the last row of the round; what was stored later is not looked at. */
  throughSeq: number;
}

/** One page of an erasure, as a store gets it. */
export interface EraseRequest {
  /** The address to look for, in any case. */
  email: string;
  /** The time of the call, in milliseconds since 1970. */
  now: number;
  /** Counts, and changes nothing. */
  dryRun: boolean;
  /** Undefined for the first page. */
  cursor?: EraseCursor | undefined;
}

/** What a store erased in one page, and where the next one begins. */
export interface ErasePage extends EraseCounts {
  /** Undefined on the last page. */
  next: EraseCursor | undefined;
}

export const NOTHING_ERASED: EraseCounts = {
  events: 0,
  work: 0,
  eventsLeft: 0,
  contactEvents: 0,
  contactEventsLeft: 0,
  jobs: 0,
  jobsLeft: 0,
};

export async function eraseAll(
  erasePage: (cursor: EraseCursor | undefined) => Promise<ErasePage>,
): Promise<EraseCounts> {
  let total = NOTHING_ERASED;
  for (let cursor: EraseCursor | undefined; ;) {
    const { next, ...page } = await erasePage(cursor);
    total = addCounts(total, page);
    if (next === undefined) return total;
    cursor = next;
  }
}

export function addCounts(a: EraseCounts, b: Partial<EraseCounts>): EraseCounts {
  const sum = { ...a };
  for (const name of Object.keys(sum) as (keyof EraseCounts)[]) sum[name] += b[name] ?? 0;
  return sum;
}
