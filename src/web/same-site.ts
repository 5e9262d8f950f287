const JSON_TYPE = /^application\/json\s*(?:;|$)/i;

/** Whether a page of another site sent the request, as the browser says, which no page can change. */
export function isOfOtherSite(secFetchSite: string | undefined): boolean {
  return secFetchSite !== undefined && secFetchSite !== "same-origin" && secFetchSite !== "none";
}

/** Whether the content type is one that a form of another site cannot send. */
export function isJsonType(contentType: string | undefined): boolean {
  return JSON_TYPE.test(contentType ?? "");
}
