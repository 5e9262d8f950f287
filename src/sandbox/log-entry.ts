import type { ApiCallEntry } from "./calls/create-api.js";
import type { AttemptRow } from "./delivery/attempt-row.js";
import type { EndpointChange } from "./endpoints/endpoint-registry.js";

/** Something that happened in the sandbox, for a live log. No bodies, secrets or contacts' addresses. */
export type SandboxLogEntry = {
  /** Milliseconds since 1970, by the sandbox's clock. */
  atMs: number;
} & (
  | { kind: "event"; eventId: string; type: string; deliveries: number }
  | {
      kind: "attempt";
      row: AttemptRow;
      /** Scheme, host and path of the endpoint. A query can contain secrets. */
      url: string;
    }
  | { kind: "endpoint"; endpointId: string; change: EndpointChange; reason: string | null }
  | { kind: "api"; call: ApiCallEntry }
  | { kind: "contact_event"; eventId: string; contactId: string; name: string; mode: "live" | "test" }
  /** The clock was advanced by hand. */
  | { kind: "clock"; byMs: number }
);

/** The same, before it has its time. */
export type Happened = SandboxLogEntry extends infer Entry
  ? Entry extends unknown
    ? Omit<Entry, "atMs">
    : never
  : never;

/** A URL that is safe to log. */
export function loggedUrl(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
