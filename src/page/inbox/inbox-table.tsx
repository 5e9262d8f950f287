import type { ComponentChildren } from "preact";
import { Empty } from "../ui/empty.js";
import { inboxState, loadInbox, nextCursor } from "./inbox-state.js";

interface InboxTableProps {
  /** What the table holds, for those who hear it. */
  label: string;
  isEmpty: boolean;
  /** Title when nothing is there in any state. */
  emptyTitle: string;
  emptyText: string;
  /** The `<th>`s. */
  head: ComponentChildren;
  /** The `<tr>`s. */
  children: ComponentChildren;
}

/** A table of what the inbox file holds in the chosen state, a page at a time. */
export function InboxTable({ label, isEmpty, emptyTitle, emptyText, head, children }: InboxTableProps) {
  if (isEmpty) {
    return (
      <Empty title={inboxState.value === "" ? emptyTitle : `Nothing is ${inboxState.value}`}>
        <p>{emptyText}</p>
      </Empty>
    );
  }
  return (
    <div class="table-side">
      <table class="table" aria-label={label}>
        <thead>
          <tr>{head}</tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
      {nextCursor.value !== null && (
        <button type="button" class="button more" onClick={() => void loadInbox({ isMore: true })}>
          Show more
        </button>
      )}
    </div>
  );
}
