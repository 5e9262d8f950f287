import { signal } from "@preact/signals";
import type { ErrorGroupPage } from "../../../dashboard/api/error-groups.js";
import { runAction } from "../../state/notice.js";
import { Empty } from "../../ui/empty.js";
import { plural } from "../../ui/format.js";
import { fetchErrorGroups } from "../api/fetch-and-post.js";
import { readParam } from "../state/dashboard-address.js";
import { endedJobs } from "../state/jobs.js";
import { sinceOf } from "../state/time-span.js";
import { ChoiceFilter, FilterBar, HandlerFilter, TimeFilter, TypeFilter } from "../ui/filter-fields.js";
import { useListRefresh } from "../ui/use-list-refresh.js";
import { ErrorGroupItem } from "./error-group-item.js";
import { FAILED_STATES } from "./failed-states.js";

/** Null before it is loaded. */
const page = signal<ErrorGroupPage | null>(null);

/** Counts the requests, so that a late answer does not replace a newer one. */
let lastCall = 0;

async function loadErrors(): Promise<void> {
  const call = ++lastCall;
  const [handler, type, state] = [readParam("handler"), readParam("type"), readParam("state")];
  await runAction(async () => {
    const read = await fetchErrorGroups({ handler, type, state, since: sinceOf(readParam("span")) });
    if (call === lastCall) page.value = read;
  });
}

const WORDS: ReadonlyMap<string, string> = new Map(FAILED_STATES.map(({ state, word }) => [state, word]));

const PARAMS = ["handler", "type", "state", "span"] as const;

/** Errors of work that is not done, by what they have in common. */
export function ErrorsView() {
  const filter = PARAMS.map(readParam).join("\n");
  useListRefresh(
    () => void loadErrors(),
    () => false,
    [filter, endedJobs.value],
  );
  const read = page.value;
  return (
    <div class="dash-view">
      <header class="pane-head">
        <h1>Errors</h1>
        {read !== null && (
          <span class="hint">
            {read.hasMore ? `the newest ${plural(read.items.length, "group")}` : plural(read.items.length, "group")}
          </span>
        )}
      </header>
      <FilterBar label="Errors" params={PARAMS}>
        <ChoiceFilter name="state" label="State" all="All states" choices={[...WORDS.keys()]} words={WORDS} />
        <HandlerFilter />
        <TypeFilter />
        <TimeFilter />
      </FilterBar>
      <div class="dash-scroll dash-list" tabIndex={0} role="region" aria-label="Groups of errors">
        {read === null && <p class="hint dash-loading">Loading…</p>}
        {read?.items.length === 0 && (
          <Empty title={filter.trim() === "" ? "No errors" : "Nothing matches"}>
            <p>{filter.trim() === "" ? "All work is done, or has not failed." : "Show all, or ask for less."}</p>
          </Empty>
        )}
        <ul class="groups">
          {read?.items.map((group) => (
            <ErrorGroupItem key={group.group} group={group} />
          ))}
        </ul>
        {read?.hasMore === true && <p class="hint dash-loading">There are more groups. Narrow the list to see them.</p>}
      </div>
    </div>
  );
}
