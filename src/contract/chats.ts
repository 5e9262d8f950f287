import { z } from "zod";
import type { Resource } from "./operation.js";
import { pageOf, pageQuery } from "./paging.js";
import { ROW_KINDS } from "./row-kinds.js";
import { idParams, nullable, openEnum, textOf } from "./shapes.js";

const chatUpdateInput = z.strictObject({
  /** 1 to 120 characters. */
  title: textOf(1, 120),
});

const chat = z.looseObject({
  id: z.string(),
  title: z.string().default(""),
  /** Its values are not documented. */
  kind: nullable(z.string()),
  messageCount: z.number().default(0),
  updatedAt: nullable(z.string()),
});

const OWNERS = { ownerOnly: true, closedToSome: "callers" } as const;
const one = {
  ...OWNERS,
  path: "/chats/{id}",
  params: idParams(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, "Must be the id of a chat, a UUID."),
  example: { params: { id: "3f2504e0-4f89-41d3-9a0c-0305e82c3301" } },
} as const;

/** The owner's conversations with the assistant. See docs/service.md#chats. */
export const chats = {
  /** Lists the chats. */
  list: {
    ...ROW_KINDS.list,
    ...OWNERS,
    path: "/chats",
    scope: "threads:read",
    query: z.strictObject({
      /** Searches the titles. */
      q: z.string().optional(),
      /** `newest` unless another is named. */
      sort: openEnum(["newest", "oldest", "title"]).optional(),
      ...pageQuery(),
    }),
    result: pageOf(chat),
    doc: "Lists the chats.",
    example: { query: { q: "orders", sort: "title" } },
  },
  /** Reads one chat, without its messages. */
  get: { ...ROW_KINDS.read, ...one, scope: "threads:read", result: chat, doc: "Reads one chat, without its messages." },
  /** Renames a chat. */
  rename: {
    ...ROW_KINDS.update,
    ...one,
    scope: "threads:write",
    body: chatUpdateInput,
    result: chat,
    doc: "Renames a chat.",
    example: { ...one.example, body: { title: "Late orders" } },
  },
  /** Deletes a chat and its messages for good. */
  delete: {
    ...ROW_KINDS.delete,
    ...one,
    scope: "threads:write",
    doc: "Deletes a chat and its messages for good.",
  },
} as const satisfies Resource;
