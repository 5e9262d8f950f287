/** True when one of the texts has the query in it, whatever the case and the accents. */
export function containsText(query: string, texts: readonly (string | null)[]): boolean {
  const wanted = foldText(query);
  return texts.some((text) => text !== null && foldText(text).includes(wanted));
}

/** True when each word or `"phrase"` of the query is in one of the texts, whatever the case and the accents. */
export function containsWords(query: string, texts: readonly (string | null)[]): boolean {
  const words = [...query.matchAll(/"([^"]*)"|\S+/g)].map(([word, phrase]) => phrase ?? word);
  return words.every((word) => containsText(word, texts));
}

/** The text in lower case and without accents. */
function foldText(text: string): string {
  return text.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase();
}
