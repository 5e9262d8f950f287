import { z } from "zod";
import type { Resource } from "./operation.js";
import { onlyPage, pageOf, pageQuery } from "./paging.js";
import { ROW_KINDS } from "./row-kinds.js";
import { nullable, openEnum, tombstone } from "./shapes.js";

const chatUpdateInput = z.strictObject({
  /** 1 to 120 characters. */
  title: z.string().min(1, { error: "Must not be empty." }).max(120, { error: "Must have at most 120 characters." }),
});

const chat = z.looseObject({
  id: z.string(),
  title: z.string().default(""),
  /** Its values are not documented. */
  kind: nullable(z.string()),
  messageCount: z.number().default(0),
  updatedAt: nullable(z.string()),
});

/** A conversation with the assistant. */
export type Chat = z.output<typeof chat>;
/** What may be changed of a chat. */
export type ChatUpdateInput = z.input<typeof chatUpdateInput>;

const params = z.strictObject({
  id: z
    .string()
    .regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, { error: "Must be the id of a chat, a UUID." }),
});
const id = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
const exampleChat = { id, title: "Late orders", kind: "assistant", messageCount: 6, updatedAt: "2026-01-31T09:30:00Z" };

const refusals = ["owner_only", "insufficient_scope", "capability_unsupported"] as const;

/** The owner's conversations with the assistant. See docs/service.md#chats. */
export const chats = {
  /** Lists the chats. */
  list: {
    ...ROW_KINDS.list,
    path: "/chats",
    scope: "threads:read",
    ownerOnly: true,
    closedToSome: "callers",
    query: z.strictObject({
      /** Searches the titles. */
      q: z.string().optional(),
      /** `newest` unless another is named. */
      sort: openEnum(["newest", "oldest", "title"]).optional(),
      ...pageQuery(),
    }),
    result: pageOf(chat),
    errors: [...refusals, "invalid_cursor", "invalid_parameter"],
    doc: "Lists the chats.",
    example: {
      query: { q: "orders", sort: "title" },
      result: onlyPage(exampleChat),
    },
  },
  /** Reads one chat, without its messages. */
  get: {
    ...ROW_KINDS.read,
    path: "/chats/{id}",
    scope: "threads:read",
    ownerOnly: true,
    closedToSome: "callers",
    params,
    result: chat,
    errors: [...refusals, "resource_not_found"],
    doc: "Reads one chat, without its messages.",
    example: { params: { id }, result: exampleChat },
  },
  /** Renames a chat. */
  rename: {
    ...ROW_KINDS.update,
    path: "/chats/{id}",
    scope: "threads:write",
    ownerOnly: true,
    closedToSome: "callers",
    params,
    body: chatUpdateInput,
    result: chat,
    errors: [...refusals, "invalid_parameter", "unknown_parameter", "resource_not_found"],
    doc: "Renames a chat.",
    example: { params: { id }, body: { title: "Late orders" }, result: exampleChat },
  },
  /** Deletes a chat and its messages for good. */
  delete: {
    ...ROW_KINDS.delete,
    path: "/chats/{id}",
    scope: "threads:write",
    ownerOnly: true,
    closedToSome: "callers",
    params,
    result: tombstone,
    errors: [...refusals, "resource_not_found"],
    doc: "Deletes a chat and its messages for good.",
    example: { params: { id }, result: { object: "chat", id, deleted: true } },
  },
} as const satisfies Resource;
