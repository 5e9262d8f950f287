import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { SECOND } from "../../../base/duration.js";
import { NOTE_HANDLER } from "../../../base/note-handler.js";
import type { ErrorGroup } from "../../../store/error-groups.js";
import type { OverviewFigures } from "../../../dashboard/state-now.js";
import { linkTo } from "../../state/address.js";
import { runAction } from "../../state/notice.js";
import { storeTrouble } from "../../state/now.js";
import { Panel } from "../../ui/panel.js";
import { useListRefresh } from "../../ui/use-list-refresh.js";
import { fetchErrorGroups, fetchOverview } from "../../api/calls.js";
import { handlers, loadHandlers } from "../../state/handlers.js";
import { formatCount, formatTime, plural, shortText } from "../../text/format.js";
import { sumOf } from "../plots/plot-series.js";
import { answerSeries } from "./plotted-series.js";

/** Groups that are shown; the list of errors has all. */
const SHOWN = 3;

/** A receiver writes its figures as often. */
const FIGURES_EVERY_MS = 10 * SECOND;

/** Null before they are loaded. */
const newest = signal<readonly ErrorGroup[] | null>(null);
const day = signal<OverviewFigures["answers"] | null>(null);

/** What one opens the overview for: the newest errors, the handlers that fail, and the deliveries of a day. */
export function Attention() {
  useListRefresh(() => void runAction(loadErrors), []);
  useEffect(() => {
    const load = () => void runAction(async () => void (day.value = (await fetchOverview("24h")).answers));
    load();
    const timer = setInterval(load, FIGURES_EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  if (storeTrouble.value !== null) return null;
  const failing = handlers.value.filter(({ isFailing }) => isFailing);
  return (
    <div class="attention">
      <Part title="Newest errors" none="No errors" link={linkTo("errors")}>
        {newest.value?.map(({ id, message, kind, handler, events, lastAt }) => (
          <li key={id}>
            <a href={linkTo("work", { errorGroup: id, groupName: kind })}>{shortText(message || kind)}</a>{" "}
            <span class="hint">
              {/* What was not understood is of no handler. */}
              {handler !== NOTE_HANDLER && `${shortText(handler)} · `}
              {plural(events, "event")} · {formatTime(lastAt)}
            </span>
          </li>
        ))}
      </Part>
      <Part title="Failing handlers" none="None fails" link={linkTo("work", { show: "handlers" })}>
        {failing.map(({ handler, times, lastError }) => (
          <li key={handler}>
            <a href={linkTo("errors", { handler })}>{shortText(handler)}</a>{" "}
            <span class="bad">{times !== null && `${Math.round((100 * times.failed) / times.runs)} % failed`}</span>{" "}
            <span class="hint">{lastError?.kind}</span>
          </li>
        ))}
      </Part>
      <Part title="Deliveries in 24 hours" none="No deliveries">
        {answerSeries(day.value ?? {})
          .filter(({ values }) => sumOf(values) > 0)
          .map(({ label, tone, values }) => (
            <li key={label}>
              <span class={tone}>
                <b>{formatCount(sumOf(values))}</b> {label}
              </span>
            </li>
          ))}
      </Part>
    </div>
  );
}

async function loadErrors(): Promise<void> {
  if (storeTrouble.value !== null) return;
  const [{ items }] = await Promise.all([fetchErrorGroups({}), loadHandlers()]);
  newest.value = items.slice(0, SHOWN);
}

interface PartOptions {
  title: string;
  /** Said where there is nothing. */
  none: string;
  link?: string;
  children: ComponentChildren;
}

function Part({ none, children, ...panel }: PartOptions) {
  const isEmpty = !Array.isArray(children) || children.length === 0;
  return <Panel {...panel}>{isEmpty ? <p class="hint">{none}</p> : <ul>{children}</ul>}</Panel>;
}
