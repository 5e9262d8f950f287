import type { HeaderList } from "../model/capture.js";

/** Headers of the connection, not of the request. `expect` would make the sender wait. */
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

/** The values that {@link fitHeaders} sets. */
export interface HeaderFit {
  /** Host and port of the destination; undefined keeps the captured `host`. */
  host?: string | undefined;
  /** Bytes of the body. */
  length: number;
}

/** True for a header that belongs to one connection and is not forwarded. The name may have any case. */
export function isConnectionHeader(name: string): boolean {
  return OF_THE_CONNECTION.has(name.toLowerCase());
}

/**
 * Headers as they are sent: order, case and duplicates stay. `host` and `content-length` are set in their place (or
 * first and last). Headers of the old connection are removed.
 */
export function fitHeaders(headers: HeaderList, { host, length }: HeaderFit): HeaderList {
  const kept = headers.filter(([name]) => !isConnectionHeader(name));
  const sized = replaceHeaders(kept, new Map([["content-length", String(length)]]));
  if (host === undefined) return sized;
  const hasHost = sized.some(([name]) => name.toLowerCase() === "host");
  return hasHost ? replaceHeaders(sized, new Map([["host", host]])) : [["Host", host], ...sized];
}

/**
 * Sets headers by lower-case name: at the place of the first with that name, or at the end. Further ones with that name
 * are removed.
 */
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

/** Adds these headers at the end and removes all others with the same names. */
export function overrideHeaders(headers: HeaderList, given: HeaderList): HeaderList {
  const names = given.map(([name]) => name.toLowerCase());
  return [...dropHeaders(headers, names), ...given];
}

/** Removes the headers with these lower-case names. */
export function dropHeaders(headers: HeaderList, names: readonly string[]): HeaderList {
  return headers.filter(([name]) => !names.includes(name.toLowerCase()));
}
