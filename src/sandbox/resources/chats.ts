import type { Contract } from "../../contract/contract.js";
import type { ResultFields } from "../../contract/operation.js";
import { Collection } from "../api/collection.js";
import { isoNow } from "../clock/sandbox-time.js";
import type { SandboxResource, Workspace } from "./resource.js";
import { containsText } from "./search-text.js";

type ChatRow = ResultFields<Contract["chats"]["get"]>;

const timeOf = ({ updatedAt }: ChatRow, sequence: number) => [Date.parse(updatedAt ?? ""), sequence];

/** The orders of the list of chats, the usual one first. */
const SORTINGS = {
  newest: { positionOf: timeOf },
  oldest: { positionOf: timeOf, order: "ascending" },
  title: { positionOf: ({ title, id }: ChatRow) => [title.toLowerCase(), id], order: "ascending" },
} as const;

/** The owner's conversations with the assistant. See docs/service.md#chats. */
export function createChats({ clock, makeId, options }: Workspace): SandboxResource<"chats"> {
  const chats = new Collection<ChatRow>({ kind: "chat" });
  const get = ({ id }: { id: string }): ChatRow => chats.get(id.toLowerCase());
  return {
    handlers: {
      list({ query: { q = "", ...query } }) {
        const where = ({ title }: ChatRow): boolean => containsText(q, [title]);
        return chats.page({ list: "chats", filters: [q], where, sortings: SORTINGS, ...query });
      },
      get: ({ params }) => get(params),
      rename: ({ params, body: { title } }) => chats.change(get(params).id, { title }),
      delete: ({ params }) => chats.delete(get(params).id),
    },
    rows: () => chats.rows,
    reset() {
      chats.clear();
      const now = isoNow(clock);
      for (const [index, chat] of options.chats.entries()) {
        const { title, id = makeId.uuid(`chat ${index + 1}`), kind = "assistant", messageCount = 2 } = chat;
        chats.add({ title, kind, messageCount, updatedAt: chat.updatedAt ?? now }, id.toLowerCase());
      }
    },
  };
}
