import { EVENT_STATES, type EventState } from "../../../store/state-words.js";
import { WORK_FILTERS } from "../../../store/filters.js";
import { computed } from "@preact/signals";
import type { WorkFilter } from "../../../dashboard/job-body.js";
import type { ListedEvent } from "../../../web/api/event.js";
import { fetchEvents, viewer } from "../../api/calls.js";
import { readParam, sinceOf } from "../../state/address.js";
import { createPagedList } from "../../state/create-paged-list.js";
import { createSelection } from "../../state/create-selection.js";

const FILTERS = Object.keys(WORK_FILTERS) as (keyof typeof WORK_FILTERS)[];

/** Parameters of the address that narrow the list: its filters, a text, how far back it goes, and a group's name. */
export const WORK_PARAMS = [...FILTERS, "text", "span", "groupName"];

/** What is shown of the work. */
export const WORK_PARTS = [
  { name: "", label: "Events" },
  { name: "running", label: "Runs now" },
  { name: "handlers", label: "Handlers" },
  { name: "jobs", label: "Jobs" },
] as const;

export const workPart = computed(() => WORK_PARTS.find(({ name }) => name === readParam("show"))?.name ?? "");

export const workState = computed<EventState | "">(
  () => EVENT_STATES.find((name) => name === readParam("state")) ?? "",
);

export const events = createPagedList<ListedEvent>((cursor) =>
  fetchEvents({ ...commonFilters(), text: readParam("text"), cursor }),
);

/** What both a list and a job can ask. */
function commonFilters() {
  const filters = FILTERS.map((name) => [name, readParam(name)] as const);
  const given = Object.fromEntries(filters) as Record<keyof typeof WORK_FILTERS, string>;
  return { ...given, state: workState.value, since: given.since || sinceOf(readParam("span")) };
}

/** Whether the list is narrowed by more than a state. */
export const isNarrowed = computed(() => WORK_PARAMS.some((name) => readParam(name) !== ""));

/** What a change of all that is listed would choose now; undefined where no job can ask what narrows the list. */
export function listedWork(): WorkFilter | undefined {
  const narrows = mayChooseByError() ? ["text"] : ["text", "error"];
  return narrows.some((name) => readParam(name) !== "") ? undefined : listedFilter();
}

/** What a change of these events would choose: of their work, what the list shows. Undefined as above. */
export function workOfChosen(ids: readonly string[]): WorkFilter | undefined {
  const isExact = mayChooseByError() || readParam("error") === "" || readParam("handler") !== "";
  return isExact ? { ...listedFilter(), ids: [...ids] } : undefined;
}

function listedFilter(): WorkFilter {
  const { error, ...filters } = commonFilters();
  const asked = Object.entries(mayChooseByError() ? { ...filters, error } : filters);
  return Object.fromEntries(asked.filter(([, value]) => value !== ""));
}

/** Who does not see all of errors looks in them as they are shown, which no store can repeat. */
const mayChooseByError = (): boolean => viewer.value?.payloads === "full";

/** The chosen events, by id. */
export const eventSelection = createSelection(() => events.items.value.map(({ id }) => id));
