import { useState } from "preact/hooks";
import { fireEvent } from "../state/sandbox.js";
import { session } from "../state/session.js";
import { Icon } from "../ui/icon.js";

/** Fires a sample event, as the service does when something happens in the workspace. */
export function EmitForm() {
  const types = session.value?.eventTypes ?? [];
  const [type, setType] = useState(types[0]?.name ?? "");
  return (
    <form
      class="sandbox-form"
      aria-label="Fire an event"
      onSubmit={(event) => {
        event.preventDefault();
        void fireEvent(type);
      }}
    >
      <select aria-label="Type of the event" value={type} onChange={(event) => setType(event.currentTarget.value)}>
        {types.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      <button type="submit" class="button">
        <Icon name="send" /> Fire the event
      </button>
    </form>
  );
}
