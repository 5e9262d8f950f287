import { EVENT_TYPES } from "../../../protocol/event-types.js";
import { useEffect } from "preact/hooks";
import { ChoiceFilter } from "../../ui/filter-fields.js";
import { viewer } from "../../state/session.js";
import { handlers, loadHandlers } from "../../state/handlers.js";

/** Also handlers that the code has no more, while they have unfinished work. */
export function HandlerFilter() {
  useEffect(() => void loadHandlers(), []);
  const registered = viewer.value?.handlers ?? [];
  const choices = [...new Set([...registered, ...handlers.value.map(({ handler }) => handler)])];
  return <ChoiceFilter name="handler" label="Handler" all="All handlers" choices={choices} />;
}

export function TypeFilter() {
  const choices = EVENT_TYPES;
  return <ChoiceFilter name="type" label="Event type" all="All types" choices={choices} />;
}
