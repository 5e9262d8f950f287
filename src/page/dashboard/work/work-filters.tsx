import { EVENT_TYPES } from "../../../protocol/event-types.js";
import { useEffect } from "preact/hooks";
import { ChoiceFilter } from "../../ui/filter-fields.js";
import { viewer } from "../../state/session.js";
import { readParam } from "../../state/address.js";
import { handlers, loadHandlers } from "../../state/handlers.js";
import { events } from "./work-state.js";

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

/** Where secrets have names: those of the events that are listed. */
export function SourceFilter() {
  const listed = events.items.value.flatMap(({ source }) => (source === "" ? [] : source));
  if (listed.length === 0 && readParam("source") === "") return null;
  return <ChoiceFilter name="source" label="Source" all="All sources" choices={listed} />;
}
