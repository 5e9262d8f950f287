import { z } from "zod";
import type { Operation } from "./operation.js";
import { pageQuery } from "./paging.js";
import { tombstoneOf } from "./shapes.js";

/** Reads one thing. */
const read = { method: "GET", status: [200], retry: "safe", example: {} } as const;
const act = { method: "POST", status: [200], retry: "never", example: {} } as const;

/** What the rows of one kind have in common, to be spread into a row. */
export const ROW_KINDS = {
  read,
  /** Reads a list page by page. */
  list: { ...read, paged: true, query: z.strictObject(pageQuery()), issueCodes: { cursor: "invalid_cursor" } },
  /** Does something with what is there. */
  act,
  /** Makes something with an id that the service chooses. */
  create: { ...act, status: [201, 200] },
  /** Changes fields; the others stay. */
  update: { ...act, method: "PATCH" },
  /** Deletes one thing, which has an id. */
  delete: { ...act, method: "DELETE", result: tombstoneOf({ id: z.string() }) },
} as const satisfies Readonly<Record<string, Partial<Operation>>>;
