/** A field of a fault, as the form asks for it. */
export interface FaultField {
  name: string;
  label: string;
  type: "number" | "text" | "flag";
  /** What the field holds at first; empty leaves it out. */
  start: string;
  /** What leaving it out means. */
  empty?: string;
}

/** One kind of fault, and the fields that it takes. */
export interface FaultKind {
  kind: string;
  meaning: string;
  fields: readonly FaultField[];
}

const STATUS: FaultField = { name: "status", label: "Status", type: "number", start: "503" };
const RETRY_AFTER: FaultField = { name: "retryAfter", label: "Retry-After", type: "text", start: "" };
const DELAY: FaultField = { name: "delayMs", label: "Milliseconds", type: "number", start: "2000" };
const EXECUTED: FaultField = { name: "executed", label: "the call takes effect all the same", type: "flag", start: "" };

/** The faults of the sandbox, of deliveries and of its API, the most useful first. */
export const FAULT_KINDS: Readonly<Record<"deliveries" | "api", readonly FaultKind[]>> = {
  deliveries: [
    { kind: "status", meaning: "not sent; a proxy answers instead", fields: [STATUS, RETRY_AFTER] },
    { kind: "drop", meaning: "not sent, no answer", fields: [] },
    { kind: "lose_answer", meaning: "sent and handled, and the answer is lost", fields: [] },
    { kind: "delay", meaning: "sent later", fields: [DELAY] },
    {
      kind: "duplicate",
      meaning: "sent more than once",
      fields: [{ name: "copies", label: "Copies", type: "number", start: "1" }],
    },
    {
      kind: "reorder",
      meaning: "sent after the next one",
      fields: [{ name: "maxMs", label: "Longest wait in milliseconds", type: "number", start: "", empty: "60000" }],
    },
  ],
  api: [
    {
      kind: "error",
      meaning: "an error answer",
      fields: [STATUS, { name: "code", label: "Code", type: "text", start: "" }, RETRY_AFTER, EXECUTED],
    },
    { kind: "no_answer", meaning: "the connection breaks", fields: [EXECUTED] },
    { kind: "delay", meaning: "answered later", fields: [DELAY] },
  ],
};
