import { useState } from "preact/hooks";
import { DEFAULT_EVENT_TYPES, EVENT_TYPES } from "../../protocol/event-types.js";

const isDefault = (name: string): boolean => (DEFAULT_EVENT_TYPES as readonly string[]).includes(name);

/** The event types, grouped by the word before the dot. */
export function TypeList({ current, onChange }: { current: string; onChange: (name: string) => void }) {
  const [filter, setFilter] = useState("");
  const shown = EVENT_TYPES.filter((name) => name.includes(filter.trim().toLowerCase()));
  const groups = new Set(shown.map((name) => name.slice(0, name.indexOf("."))));
  return (
    <nav class="types" aria-label="Event types">
      <input
        type="search"
        class="types-filter"
        placeholder={`Filter ${EVENT_TYPES.length} types`}
        aria-label="Filter event types"
        value={filter}
        onInput={(event) => setFilter(event.currentTarget.value)}
      />
      <div class="types-list">
        {[...groups].map((group) => (
          <section key={group}>
            <h2>{group}</h2>
            {shown
              .filter((name) => name.startsWith(`${group}.`))
              .map((name) => (
                <button
                  key={name}
                  type="button"
                  class="type-item"
                  aria-current={name === current}
                  title={isDefault(name) ? name : `${name}: sent only to an endpoint that names it`}
                  onClick={() => onChange(name)}
                >
                  {name}
                  {!isDefault(name) && <span class="type-note">named only</span>}
                </button>
              ))}
          </section>
        ))}
        {shown.length === 0 && <p class="nothing">No type matches.</p>}
      </div>
    </nav>
  );
}
