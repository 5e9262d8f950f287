import { useEffect, useState } from "preact/hooks";
import { session } from "../state/session.js";
import { Icon } from "../ui/icon.js";
import { filterInbox, inboxFilter, isNarrowed } from "./inbox-state.js";

/** Element id, so that `/` finds the box. */
export const INBOX_SEARCH_ID = "inbox-search";

/** Combines the requests of fast typing. */
const SETTLE_MS = 200;

/** Search by id, type, handler and error, and a choice of the type. */
export function InboxFilters() {
  const { type, text } = inboxFilter.value;
  const [typed, setTyped] = useState(text);
  useEffect(() => setTyped(text), [text]);
  useEffect(() => {
    if (typed.trim() === text) return;
    const timer = setTimeout(() => filterInbox({ q: typed.trim() }), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <div class="inbox-filters" role="search" aria-label="Inbox">
      <input
        id={INBOX_SEARCH_ID}
        type="search"
        aria-label="Search the inbox"
        placeholder="Search: id, type, handler, error"
        spellcheck={false}
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
      <select
        aria-label="Event type"
        value={type}
        onChange={(event) => filterInbox({ type: event.currentTarget.value })}
      >
        <option value="">All types</option>
        {session.value?.eventTypes.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      {isNarrowed.value && (
        <button type="button" class="button small" onClick={() => filterInbox({ q: "", type: "" })}>
          <Icon name="cross" /> Show all
        </button>
      )}
    </div>
  );
}
