import { type ApiHandlers, type Caller, SandboxApiError } from "../api/api-handlers.js";
import { isUnlimited } from "../endpoints/allowlists.js";
import { requireOneOf } from "../endpoints/check-endpoint.js";
import { Collection, type CollectionRow, pageBody, withoutSequence } from "./collection.js";
import type { SandboxResource, Workspace } from "./resource.js";
import { containsText } from "./search-text.js";

interface ChatRow extends CollectionRow {
  title: string;
  kind: string;
  messageCount: number;
  updatedAt: string;
}

const SORTS = ["newest", "oldest", "title"] as const;

/** The owner's conversations with the assistant. See docs/service.md#chats. */
export function createChats({ clock, makeId, options }: Workspace): SandboxResource<"chats"> {
  const chats = new Collection<ChatRow>({ kind: "chat" });
  const get = (params: Readonly<Record<string, string>>, caller: Caller): ChatRow => {
    requireEveryAddress(caller);
    return chats.get((params["id"] ?? "").toLowerCase());
  };

  const handlers: ApiHandlers["chats"] = {
    list({ query: { q = "", sort, limit, cursor }, caller }) {
      requireEveryAddress(caller);
      requireOneOf("sort", sort, SORTS);
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
    get: ({ params, caller }) => ({ body: withoutSequence(get(params, caller)) }),
    rename({ params, body: { title }, caller }) {
      const { id } = get(params, caller);
      return { body: withoutSequence(chats.change(id, { title })) };
    },
    delete({ params, caller }) {
      const { id } = get(params, caller);
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

/** Chats are about the whole workspace, so a key or token that is limited to some addresses does not reach them. */
function requireEveryAddress(caller: Caller): void {
  if (isUnlimited(caller)) return;
  throw new SandboxApiError({
    code: "capability_unsupported",
    param: "addressAllowlist",
    message: "The key is limited to some addresses or domains, and chats are about the whole workspace.",
  });
}
