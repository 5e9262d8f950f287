import { z } from "zod";
import type { Resource } from "./operation.js";
import { pageOf, pageQuery } from "./paging.js";
import { createRows } from "./create-rows.js";
import { idParams, nullable, openEnum, textOf } from "./shapes.js";

const chat = z.looseObject({
  id: z.string(),
  title: z.string().default(""),
  /** Its values are not documented. */
  kind: nullable(z.string()),
  messageCount: z.number().default(0),
  updatedAt: nullable(z.string()),
});

const rows = createRows({
  all: "/chats",
  scopes: ["threads:read", "threads:write"],
  one: {
    path: "/chats/{id}",
    params: idParams(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, "Must be the id of a chat, a UUID."),
    example: { id: "3f2504e0-4f89-41d3-9a0c-0305e82c3301" },
  },
  each: { ownerOnly: true, closedToSome: "callers" },
});

/** The owner's conversations with the assistant. See docs/service.md#chats. */
export const chats = {
  /** Lists the chats. */
  list: rows.list(pageOf(chat), {
    doc: "Lists the chats.",
    query: z.strictObject({
      /** Searches the titles. */
      q: z.string().optional(),
      /** `newest` unless another is named. */
      sort: openEnum(["newest", "oldest", "title"]).optional(),
      ...pageQuery(),
    }),
    example: { query: { q: "orders", sort: "title" } },
  }),
  /** Reads one chat, without its messages. */
  get: rows.get(chat, { doc: "Reads one chat, without its messages." }),
  /** Renames a chat. */
  rename: rows.update(chat, {
    doc: "Renames a chat.",
    body: z.strictObject({ title: textOf(1, 120) }),
    example: { body: { title: "Late orders" } },
  }),
  /** Deletes a chat and its messages for good. */
  delete: rows.delete({ doc: "Deletes a chat and its messages for good." }),
} as const satisfies Resource;
