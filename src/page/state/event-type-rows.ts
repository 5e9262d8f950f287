import { DEFAULT_EVENT_TYPES, EVENT_TYPES } from "../../protocol/event-types.js";

/** The event types as the page groups them: by the word before the dot. */
export const EVENT_TYPE_ROWS = EVENT_TYPES.map((name) => ({
  name,
  group: name.slice(0, name.indexOf(".")),
  isDefault: (DEFAULT_EVENT_TYPES as readonly string[]).includes(name),
}));
