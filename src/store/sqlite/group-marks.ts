/**
 * Most numbers that one mark covers, so that a query finds it within this distance of any of them. The schema has the
 * same number.
 */
const MAX_SPAN = 256;

/** Events `first` to `last`: all of them, or those whose place in `bits` is "1". */
export interface Mark {
  first: number;
  last: number;
  bits: string | null;
}

/** The fewest marks that cover these numbers and no other. */
export function groupMarks(numbers: readonly number[]): Mark[] {
  const sorted = numbers.toSorted((a, b) => a - b);
  const marks: Mark[] = [];
  let begin = 0;
  for (let end = 1; end <= sorted.length; end += 1) {
    const first = sorted[begin] ?? 0;
    const next = sorted[end];
    if (next !== undefined && next - first < MAX_SPAN) continue;
    marks.push(cover(sorted.slice(begin, end)));
    begin = end;
  }
  return marks;
}

function cover(sorted: readonly number[]): Mark {
  const first = sorted[0] ?? 0;
  const last = sorted.at(-1) ?? first;
  if (last - first === sorted.length - 1) return { first, last, bits: null };
  const bits = Array<string>(last - first + 1).fill("0");
  for (const number of sorted) bits[number - first] = "1";
  return { first, last, bits: bits.join("") };
}
