import { type EVENT_TYPE_ROWS } from "../state/event-type-rows.js";
import { useState } from "preact/hooks";

interface TypeListOptions {
  types: typeof EVENT_TYPE_ROWS;
  current: string;
  onChange: (name: string) => void;
}

/** The event types by group. */
export function TypeList({ types, current, onChange }: TypeListOptions) {
  const [filter, setFilter] = useState("");
  const shown = types.filter(({ name }) => name.includes(filter.trim().toLowerCase()));
  const groups = [...new Set(shown.map(({ group }) => group))];
  return (
    <nav class="types" aria-label="Event types">
      <input
        type="search"
        class="types-filter"
        placeholder={`Filter ${types.length} types`}
        aria-label="Filter event types"
        value={filter}
        onInput={(event) => setFilter(event.currentTarget.value)}
      />
      <div class="types-list">
        {groups.map((group) => (
          <section key={group}>
            <h2>{group}</h2>
            {shown
              .filter((type) => type.group === group)
              .map(({ name, isDefault }) => (
                <button
                  key={name}
                  type="button"
                  class="type-item"
                  aria-current={name === current}
                  title={isDefault ? name : `${name}: sent only to an endpoint that names it`}
                  onClick={() => onChange(name)}
                >
                  {name}
                  {!isDefault && <span class="type-note">named only</span>}
                </button>
              ))}
          </section>
        ))}
        {shown.length === 0 && <p class="nothing">No type matches.</p>}
      </div>
    </nav>
  );
}
