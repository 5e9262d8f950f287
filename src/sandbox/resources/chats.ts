import type { ApiHandlers } from "../api/api-handlers.js";
import { Collection, type CollectionRow, pageBody, withoutSequence } from "../api/collection.js";
import type { SandboxResource, Workspace } from "./resource.js";
import { containsText } from "./search-text.js";

interface ChatRow extends CollectionRow {
  title: string;
  kind: string;
  messageCount: number;
  updatedAt: string;
}

/** The owner's conversations with the assistant. See docs/service.md#chats. */
export function createChats({ clock, makeId, options }: Workspace): SandboxResource<"chats"> {
  const chats = new Collection<ChatRow>({ kind: "chat" });
  const get = (params: Readonly<Record<string, string>>): ChatRow => chats.get((params["id"] ?? "").toLowerCase());

  const handlers: ApiHandlers["chats"] = {
    list({ query: { q = "", sort, limit, cursor } }) {
      const timeOf = ({ updatedAt, sequence }: ChatRow) => [Date.parse(updatedAt), sequence];
      const page = chats.page({
        list: "chats",
        filters: [q],
        where: ({ title }) => containsText(q, [title]),
        sortings: {
          newest: { positionOf: timeOf },
          oldest: { positionOf: timeOf, order: "ascending" },
          title: { positionOf: ({ title, id }) => [title.toLowerCase(), id], order: "ascending" },
        },
        sort,
        limit,
        cursor,
      });
      return { body: pageBody(page, withoutSequence) };
    },
    get: ({ params }) => ({ body: withoutSequence(get(params)) }),
    rename({ params, body: { title } }) {
      const { id } = get(params);
      return { body: withoutSequence(chats.change(id, { title })) };
    },
    delete({ params }) {
      const { id } = get(params);
      return { body: chats.delete(id) };
    },
  };
  return {
    handlers,
    rows: () => chats.rows.map(withoutSequence),
    reset() {
      chats.clear();
      for (const [index, chat] of options.chats.entries()) {
        const { title, id, kind = "assistant", messageCount = 2, updatedAt } = chat;
        const at = updatedAt ?? new Date(clock.now()).toISOString();
        chats.add((sequence) => ({
          id: id?.toLowerCase() ?? makeId.uuid(`chat ${index + 1}`),
          sequence,
          title,
          kind,
          messageCount,
          updatedAt: at,
        }));
      }
    },
  };
}
