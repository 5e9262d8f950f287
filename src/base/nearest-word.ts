/** The word that was probably meant; undefined if none is similar. */
export function nearestWord(word: string, words: readonly string[]): string | undefined {
  const [best] = nearestFirst(word, words);
  return best !== undefined && editDistance(word, best) <= Math.max(2, word.length * 0.3) ? best : undefined;
}

/** The words, those that differ from this one in the fewest letters first. */
export function nearestFirst(word: string, words: readonly string[]): string[] {
  return words
    .map((candidate) => ({ candidate, distance: editDistance(word, candidate) }))
    .toSorted((a, b) => a.distance - b.distance)
    .map(({ candidate }) => candidate);
}

/** Levenshtein distance: how many letters must be changed, added or removed. */
function editDistance(a: string, b: string): number {
  let before = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [row, letter] of a.split("").entries()) {
    const line = [row + 1];
    for (const [column, other] of b.split("").entries()) {
      const change = (before[column] ?? 0) + (letter === other ? 0 : 1);
      line.push(Math.min(change, (before[column + 1] ?? 0) + 1, (line[column] ?? 0) + 1));
    }
    before = line;
  }
  return before.at(-1) ?? 0;
}
