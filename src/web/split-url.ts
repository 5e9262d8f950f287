/** Path and query of the URL of a request; the query is without its question mark, and empty without one. */
export function splitUrl(url: string): { path: string; query: string } {
  const at = url.indexOf("?");
  return at === -1 ? { path: url, query: "" } : { path: url.slice(0, at), query: url.slice(at + 1) };
}
