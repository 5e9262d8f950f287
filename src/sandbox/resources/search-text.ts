/** True when one of the texts has the query in it, whatever the case and the accents. */
export function containsText(query: string, texts: readonly (string | null)[]): boolean {
  const wanted = foldText(query);
  return texts.some((text) => text !== null && foldText(text).includes(wanted));
}

/** True when a word of the text begins with this one, whatever the case, the accents and the separators of both. */
export function isLooselyIn(wanted: string, text: string): boolean {
  const [bare, words] = [wordsOf(wanted).join(""), wordsOf(text)];
  const from = (at: number): string => words.slice(at, at + bare.length).join("");
  return bare === "" || words.some((_, at) => from(at).startsWith(bare));
}

function wordsOf(text: string): string[] {
  return foldText(text).match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** The text in lower case and without accents. */
function foldText(text: string): string {
  return text.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase();
}
