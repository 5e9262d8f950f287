import type { ComponentChildren } from "preact";
import { Empty } from "../ui/empty.js";
import { inboxState, loadInbox, nextCursor } from "./inbox-state.js";

interface InboxTableProps {
  /** Label of the table for screen readers. */
  label: string;
  isEmpty: boolean;
  /** Title if there is nothing in any state. */
  emptyTitle: string;
  emptyText: string;
  /** The `<th>`s. */
  head: ComponentChildren;
  /** The `<tr>`s. */
  children: ComponentChildren;
}

/** A table of the inbox in the chosen state, page by page. */
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
