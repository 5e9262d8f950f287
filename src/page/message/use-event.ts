import { type Inputs, useRef, useState } from "preact/hooks";
import type { WholeEvent } from "../../web/api/event.js";
import { PageApiError } from "../../web/page-api-error.js";
import { fetchEvent } from "../api/calls.js";
import { reportProblem } from "../state/notice.js";
import { workChanges } from "../state/work.js";
import { useListRefresh } from "../ui/use-list-refresh.js";

/** What the store has of an event; undefined until it is read, null where it does not have the event. */
export function useEvent(id: string, inputs: Inputs): WholeEvent | null | undefined {
  const [read, setRead] = useState<{ id: string; event: WholeEvent | null }>();
  // A late answer does not replace a newer one.
  const last = useRef(0);
  const load = async () => {
    const call = ++last.current;
    if (id === "") return;
    try {
      const event = await fetchEvent(id);
      if (call === last.current) setRead({ id, event });
    } catch (error) {
      if (call !== last.current) return;
      if (error instanceof PageApiError && error.status === 404) setRead({ id, event: null });
      else reportProblem(error);
    }
  };
  useListRefresh(() => void load(), [id, workChanges.value, ...inputs]);
  return read?.id === id ? read.event : undefined;
}
