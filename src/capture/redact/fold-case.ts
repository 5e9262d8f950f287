/** One form for all cases of a text's letters: `ß` and `SS` are the same, and so are `ς` and `Σ`. */
export function foldCase(text: string): string {
  // First in lower case: a capital ß has no other.
  const lower = text.replaceAll("İ", "i").toLowerCase();
  return isAscii(lower) ? lower : lower.toUpperCase().toLowerCase().replaceAll("ς", "σ");
}

/** A text in one form, with the place of each of its characters in the text, and of its end. */
export function foldWithPlaces(text: string): { folded: string; placeOf: (at: number) => number } {
  const folded = foldCase(text);
  // No letter gets shorter.
  if (folded.length === text.length) return { folded, placeOf: (at) => at };
  const places: number[] = [];
  let at = 0;
  for (const character of text) {
    places.push(...Array.from(foldCase(character), () => at));
    at += character.length;
  }
  return { folded, placeOf: (place) => places[place] ?? text.length };
}

const isAscii = (text: string): boolean => !/[\u0080-\uffff]/.test(text);
