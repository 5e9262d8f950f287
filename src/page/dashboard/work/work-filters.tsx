import { useEffect } from "preact/hooks";
import { ChoiceFilter } from "../../ui/filter-fields.js";
import { dashboardSession } from "../state/dashboard-session.js";
import { handlers, loadHandlers } from "../state/handlers.js";

/** Also handlers that the code has no more, while they have unfinished work. */
export function HandlerFilter() {
  useEffect(() => void loadHandlers(), []);
  const registered = dashboardSession.value?.handlers ?? [];
  const choices = [...new Set([...registered, ...handlers.value.map(({ handler }) => handler)])];
  return <ChoiceFilter name="handler" label="Handler" all="All handlers" choices={choices} />;
}

export function TypeFilter() {
  const choices = dashboardSession.value?.eventTypes ?? [];
  return <ChoiceFilter name="type" label="Event type" all="All types" choices={choices} />;
}
