import type { Capture, HeaderList } from "./capture.js";

type Header = HeaderList[number];

/** Headers of the latest captures, by name and value. */
const shared = new Map<string, Header>();
const MOST_SHARED = 1000;
/** Longer ones hardly come twice. */
const LONGEST = 300;

/**
 * Lets the captures in memory hold the headers that are the same in most of them once: apart from bodies these take the most
 * room, and an attempt sends nearly those that came. Replaces pairs by equal ones in place; nobody changes a pair.
 */
export function shareHeaders({ request, attempts }: Capture): void {
  shareList(request.headers);
  for (const { sentHeaders, headers } of attempts) {
    shareList(sentHeaders);
    shareList(headers);
  }
}

function shareList(list: HeaderList): void {
  for (const [index, header] of list.entries()) list[index] = share(header);
}

function share(header: Header): Header {
  const [name, value] = header;
  if (name.length + value.length > LONGEST) return header;
  const key = `${name}:${value}`;
  const known = shared.get(key);
  // A file written by hand may have a colon in a name.
  if (known?.[0] === name) return known;
  if (shared.size >= MOST_SHARED) shared.clear();
  shared.set(key, header);
  return header;
}
