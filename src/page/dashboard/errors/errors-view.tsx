import { FAILED_STATES } from "../../../operator/states.js";
import { Empty } from "../../ui/empty.js";
import { plural } from "../../ui/format.js";
import { fetchErrorGroups } from "../../api/calls.js";
import { createPagedList } from "../../state/create-paged-list.js";
import { readParam } from "../../state/address.js";
import { endedJobs } from "../state/jobs.js";
import { sinceOf } from "../../state/time-span.js";
import { ChoiceFilter, FilterBar, TimeFilter } from "../../ui/filter-fields.js";
import { HandlerFilter, TypeFilter } from "../work/work-filters.js";
import { MoreButton } from "../../ui/more-button.js";
import { useListRefresh } from "../../ui/use-list-refresh.js";
import { ErrorGroupItem } from "./error-group-item.js";

const errorList = createPagedList(
  (cursor) => {
    const [handler, type, state] = [readParam("handler"), readParam("type"), readParam("state")];
    return fetchErrorGroups({ handler, type, state, since: sinceOf(readParam("span")), cursor });
  },
  // One whose last failure was retried meanwhile comes again.
  ({ group }) => group,
);

const PARAMS = ["handler", "type", "state", "span"] as const;

/** Errors of work that is not done, by what they have in common. */
export function ErrorsView() {
  const filter = PARAMS.map(readParam).join("\n");
  useListRefresh(
    (isAgain) => void (isAgain ? errorList.refresh() : errorList.load()),
    () => false,
    [filter, endedJobs.value],
  );
  const [items, isLoaded] = [errorList.items.value, errorList.isLoaded.value];
  const count = plural(items.length, "group");
  return (
    <div class="dash-view">
      <header class="pane-head">
        <h1>Errors</h1>
        {isLoaded && <span class="hint">{errorList.nextCursor.value === null ? count : `the newest ${count}`}</span>}
      </header>
      <FilterBar label="Errors" params={PARAMS}>
        <ChoiceFilter name="state" label="State" all="All states" choices={FAILED_STATES} />
        <HandlerFilter />
        <TypeFilter />
        <TimeFilter />
      </FilterBar>
      <div class="dash-scroll dash-list" tabIndex={0} role="region" aria-label="Groups of errors">
        {!isLoaded && <p class="hint dash-loading">Loading…</p>}
        {isLoaded && items.length === 0 && (
          <Empty title={filter.trim() === "" ? "No errors" : "Nothing matches"}>
            <p>{filter.trim() === "" ? "All work is done, or has not failed." : "Show all, or ask for less."}</p>
          </Empty>
        )}
        <ul>
          {items.map((group) => (
            <ErrorGroupItem key={group.group} group={group} />
          ))}
        </ul>
        <MoreButton list={errorList} />
      </div>
    </div>
  );
}
