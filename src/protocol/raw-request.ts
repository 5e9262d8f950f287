/** Reads a request header by its lower-case name; undefined when absent. A header sent twice reads as "a, b". */
export type HeaderReader = (name: string) => string | undefined;

/** A request whose bytes were read and not yet verified. */
export interface RawRequest {
  header: HeaderReader;
  /** The body exactly as received. */
  body: Uint8Array;
}
