import { useEffect, useState } from "preact/hooks";
import { session } from "../state/session.js";
import { Icon } from "../ui/icon.js";
import { contactEventRows, filterInbox, inboxFilter, inboxTab, isNarrowed } from "./inbox-state.js";

/** Element id, so that `/` finds the box. */
export const INBOX_SEARCH_ID = "inbox-search";

/** Combines the requests of fast typing. */
const SETTLE_MS = 200;

/** What the box and the choice are for: events, or contact events. */
const WORDS = {
  events: { placeholder: "Search: id, type, handler, error", choice: "Event type", all: "All types" },
  "contact-events": { placeholder: "Search: name, contact, key, code, error", choice: "Name", all: "All names" },
} as const;

/** Search by the texts of a row, and a choice of the type, or of the name of contact events. */
export function InboxFilters() {
  const { type, text } = inboxFilter.value;
  const words = WORDS[inboxTab.value];
  const [typed, setTyped] = useState(text);
  // The filter is what was typed without spaces around it; a space between two words is typed as the last one first.
  useEffect(() => setTyped((now) => (now.trim() === text ? now : text)), [text]);
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
        placeholder={words.placeholder}
        spellcheck={false}
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
      <select
        aria-label={words.choice}
        value={type}
        onChange={(event) => filterInbox({ type: event.currentTarget.value })}
      >
        <option value="">{words.all}</option>
        {choices(type).map((name) => (
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

/** All types of events; of contact events the names in sight, since any text can be one. */
function choices(chosen: string): string[] {
  if (inboxTab.value === "events") return session.value?.eventTypes.map(({ name }) => name) ?? [];
  const names = contactEventRows.value.map(({ name }) => name);
  return [...new Set([...names, chosen])].filter((name) => name !== "").toSorted();
}
