import type { Contract } from "../../contract/contract.js";
import { DRAFT_LIMITS } from "../../contract/drafts.js";
import type { BodyInput, QueryInput, ResultFields } from "../../contract/operation.js";
import { type ApiHandlers, invalidParameter } from "../api/api-handlers.js";
import { type PageBody, pageBody } from "../api/page-rows.js";
import type { SandboxEvent } from "../delivery/scheduled-delivery.js";
import { ownsAddress } from "../access/allowlists.js";
import { bareAddresses } from "../api/addresses.js";
import { Collection, type CollectionChanges } from "../api/collection.js";
import { readDraftSearch } from "./draft-search.js";
import { type Attachment, readAttachments } from "./files-of-events.js";
import type { SandboxResource, Workspace } from "./resource.js";

interface DraftRow extends ResultFields<Contract["drafts"]["get"]> {
  savedAtMs: number;
}

/** A message of a conversation that an event was about. */
interface Message {
  id: string;
  threadId: string;
  subject: string;
  attachments: Attachment[];
}

/** What is stored for an empty subject. */
const NO_SUBJECT = "(no subject)";

/** The workspace's drafts. See docs/service.md#drafts. */
export function createDrafts({ makeId, owned }: Workspace): SandboxResource<"drafts"> {
  const drafts = new Collection<DraftRow>({
    kind: "draft",
    idOf: (_, sequence) => `draft-${makeId.uuid(`draft ${sequence}`)}`,
  });
  const messages = new Map<string, Message>();

  function bodyOf(row: DraftRow): object {
    const { savedAtMs: _, from, ...rest } = row;
    const canSend = from !== null && ownsAddress(owned, bareAddresses([from])[0] ?? "");
    return { ...rest, from: canSend ? from : null };
  }

  const handlers: ApiHandlers["drafts"] = {
    list: ({ query, nowMs }) => pageDrafts(drafts, query, nowMs),
    get: ({ params }) => bodyOf(drafts.get(params.id)),
    create({ body: { forwardOf, ...body }, nowMs }) {
      const forwarded = forwardOf === undefined ? undefined : messages.get(forwardOf);
      if (forwardOf !== undefined && forwarded?.threadId !== body.threadId) {
        throw invalidParameter("forwardOf", "The conversation has no such message.");
      }
      const { id } = drafts.add({
        to: [],
        cc: [],
        bcc: [],
        html: "",
        from: null,
        threadId: null,
        subject: forwarded === undefined ? NO_SUBJECT : `Fwd: ${forwarded.subject}`,
        forwardOf: forwarded?.id ?? null,
        attachments: forwarded?.attachments ?? [],
        savedAtMs: nowMs,
      });
      drafts.change(id, changesOf(body));
      return { object: "draft", id };
    },
    update({ params, body, nowMs }) {
      const { id, threadId } = drafts.get(params.id);
      const changes = changesOf(body);
      // A draft that forwards goes on doing so unless it is moved.
      const isMoved = changes.threadId !== undefined && changes.threadId !== threadId;
      const stopped = isMoved ? { forwardOf: null, attachments: [] } : {};
      drafts.change(id, { ...changes, ...stopped, savedAtMs: nowMs });
      return { object: "draft", id };
    },
    delete: ({ params }) => drafts.delete(params.id),
  };
  return {
    handlers,
    rows: () => drafts.rows.map(bodyOf),
    reset() {
      drafts.clear();
      messages.clear();
    },
    onEvent: ({ data }) => noteMessage(messages, data),
  };
}

function pageDrafts(
  drafts: Collection<DraftRow>,
  { query = "", limit, pageToken }: QueryInput<Contract["drafts"]["list"]>,
  nowMs: number,
): PageBody<object> {
  const matches = readDraftSearch(query, nowMs);
  const page = drafts.page({
    list: "drafts",
    filters: [query],
    where: (row) => query === "" || matches(searchedOf(row)),
    sortings: { saved: { positionOf: ({ savedAtMs }, sequence) => [savedAtMs, sequence] } },
    limit,
    cursor: pageToken,
    pageParam: "pageToken",
    alwaysMore: true,
  });
  return pageBody(page, ({ id }) => ({ object: "draft", id }));
}

function noteMessage(messages: Map<string, Message>, data: SandboxEvent["data"]): void {
  const { messageId, threadId, subject } = data;
  if (typeof messageId !== "string" || typeof threadId !== "string") return;
  const about = typeof subject === "string" ? subject : "";
  // A later event about the message, such as email.delivered, does not name its files.
  const attachments = "attachments" in data ? readAttachments(data) : (messages.get(messageId)?.attachments ?? []);
  messages.set(messageId, { id: messageId, threadId, subject: about, attachments });
}

/** What is stored of the fields that were sent. */
function changesOf(sent: BodyInput<Contract["drafts"]["update"]>): CollectionChanges<DraftRow> {
  const { to, cc, bcc, subject, html, text, from, threadId } = sent;
  return {
    to: to && bareAddresses(to),
    cc: cc && bareAddresses(cc),
    bcc: bcc && bareAddresses(bcc),
    subject: subject === "" ? NO_SUBJECT : subject,
    html: html ?? text,
    from: from === "" ? null : from,
    threadId: threadId === "" ? null : threadId,
  };
}

function searchedOf({ subject, from, html, savedAtMs }: DraftRow) {
  const body = html.replaceAll(/<[^<>]*>/g, " ").slice(0, DRAFT_LIMITS.searchedBody);
  return { subject, sender: from ?? "", body, savedAtMs };
}
