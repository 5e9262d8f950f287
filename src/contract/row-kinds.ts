import type { Operation } from "./operation.js";

/** Reads one thing. */
const read = { method: "GET", status: [200], retry: "safe" } as const;

/** What the rows of one kind have in common, to be spread into a row. */
export const ROW_KINDS = {
  read,
  /** Reads a list page by page. */
  list: { ...read, paged: true, issueCodes: { cursor: "invalid_cursor" } },
  /** Makes something with an id that the service chooses. */
  create: { method: "POST", status: [201, 200], retry: "never" },
  /** Changes fields; the others stay. */
  update: { method: "PATCH", status: [200], retry: "never" },
  /** Does something with what is there. */
  act: { method: "POST", status: [200], retry: "never" },
  /** Deletes one thing. */
  delete: { method: "DELETE", status: [200], retry: "never" },
} as const satisfies Readonly<Record<string, Partial<Operation>>>;
