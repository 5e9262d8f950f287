let page: string | undefined;

/** Says where the page is. Until then, paths stay relative to it. */
export function setPageAddress({ origin, pathname }: { origin: string; pathname: string }): void {
  page = origin + pathname;
}

/**
 * The whole address of a path of the server that the page is from. A relative one would take over the name and password
 * that the page's own address may have, as in `https://ann:secret@ops.example/`, and `fetch` refuses those.
 */
export function addressOf(path: string): string {
  return page === undefined ? path : new URL(path, page).href;
}
