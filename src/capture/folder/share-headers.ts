import type { Capture, HeaderList } from "../model/capture.js";

type Header = HeaderList[number];

/** Headers of the latest captures, by name and value. */
const shared = new Map<string, Header>();
const MAX_SHARED = 1000;
/** Longer values are rarely repeated. */
const MAX_SHARED_CHARACTERS = 300;

/**
 * Keeps headers that are equal in many captures only once in memory. After bodies they take the most memory, and an
 * attempt sends nearly the same headers as were received. Replaces pairs by equal ones in place. A pair is never
 * changed.
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
  if (name.length + value.length > MAX_SHARED_CHARACTERS) return header;
  const key = `${name}:${value}`;
  const known = shared.get(key);
  // In a file written by hand a name may contain a colon.
  if (known?.[0] === name) return known;
  if (shared.size >= MAX_SHARED) shared.clear();
  shared.set(key, header);
  return header;
}
