import type { HeaderList } from "./capture.js";

/** Of the connection a request came over, not of the request; `expect` would make the sender wait. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "expect",
]);

/** What {@link fitHeaders} fits the headers to. */
export interface HeaderFit {
  /** Host and port of the destination; undefined keeps the captured `host`. */
  host?: string | undefined;
  /** Bytes of the body. */
  length: number;
}

/** True for a header that belongs to one connection and is not passed on. Takes any case. */
export function isConnectionHeader(name: string): boolean {
  return OF_THE_CONNECTION.has(name.toLowerCase());
}

/**
 * Headers as they go out: order, spelling and duplicates stay; `host` and `content-length` are set in their place (or first
 * and last), and what belongs to the old connection is left out.
 */
export function fitHeaders(headers: HeaderList, { host, length }: HeaderFit): HeaderList {
  const kept = headers.filter(([name]) => !isConnectionHeader(name));
  const sized = replaceHeaders(kept, new Map([["content-length", String(length)]]));
  if (host === undefined) return sized;
  const hasHost = sized.some(([name]) => name.toLowerCase() === "host");
  return hasHost ? replaceHeaders(sized, new Map([["host", host]])) : [["Host", host], ...sized];
}

/** Sets headers by lower-case name: where the first of that name stands, or at the end. Further ones of it go. */
export function replaceHeaders(headers: HeaderList, values: ReadonlyMap<string, string>): HeaderList {
  const open = new Map(values);
  const replaced: HeaderList = [];
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    const wanted = open.get(key);
    if (wanted !== undefined) replaced.push([name, wanted]);
    else if (!values.has(key)) replaced.push([name, value]);
    open.delete(key);
  }
  return [...replaced, ...open];
}

/** With these headers at the end, in place of all of the same names. */
export function overrideHeaders(headers: HeaderList, given: HeaderList): HeaderList {
  const names = given.map(([name]) => name.toLowerCase());
  return [...dropHeaders(headers, names), ...given];
}

/** Without the headers of these lower-case names. */
export function dropHeaders(headers: HeaderList, names: readonly string[]): HeaderList {
  return headers.filter(([name]) => !names.includes(name.toLowerCase()));
}
