/** Reads a request header by its lower-case name; undefined when absent. A header sent twice reads as "a, b". */
export type HeaderReader = (name: string) => string | undefined;

/** A request whose bytes were read and not yet believed. */
export interface RawRequest {
  header: HeaderReader;
  /** The body exactly as it came over the wire. */
  body: Uint8Array;
}
