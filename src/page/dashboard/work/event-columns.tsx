import { NOTE_HANDLER } from "../../../base/note-handler.js";
import { isStopped, piecesIn } from "../../../operator/states.js";
import type { ListedEvent } from "../../../web/api/event.js";
import type { PausedHandlerRow } from "../../../web/api/handlers.js";
import { ListedBadge } from "../../ui/badges.js";
import { timeColumn, type TableColumn, SubjectWords } from "../../ui/data-table.js";
import { linkTo } from "../../state/address.js";
import { pausedHandlers } from "../../state/handlers.js";
import { workState } from "./work-state.js";
import { formatExactTime, formatTime, shortText } from "../../text/format.js";

/** What the list of work tells of each event: first what happened to what, last its id. */
export const EVENT_COLUMNS: readonly TableColumn<ListedEvent>[] = [
  {
    title: "State",
    class: "plain state-column",
    cell: (event) => (
      <>
        <ListedBadge event={event} state={workState.value} /> <span class="hint">{nextRun(event)}</span>
      </>
    ),
    hint: ({ nextRunAt }) => (nextRunAt === null ? "" : `Due ${formatExactTime(nextRunAt)}`),
  },
  timeColumn("Received", ({ receivedAt }) => receivedAt, "plain"),
  {
    title: "Type",
    class: "plain type-column",
    cell: ({ type, test }) => (
      <>
        {type === "" ? <em>unreadable</em> : shortText(type)} {test && <span class="tag">test</span>}
      </>
    ),
  },
  {
    title: "Subject",
    class: "plain wide",
    cell: ({ subject }) => subject !== null && <SubjectWords subject={subject} />,
    hint: ({ subject }) => shortText(subject ?? ""),
  },
  {
    title: "Handlers",
    class: "plain wide error-cell",
    cell: (event) => lastError(event) || <span class="hint">{handlersOf(event)}</span>,
    hint: (event) => lastError(event) || handlersOf(event),
  },
  {
    title: "Event",
    class: "plain id-column",
    cell: ({ id }) => (
      <a href={linkTo("event", { id })} onClick={(click) => click.stopPropagation()}>
        <code>{shortText(id)}</code>
      </a>
    ),
  },
];

/** The pieces that the list is about, those with an error first. */
function piecesOf({ handlers }: Pick<ListedEvent, "handlers">) {
  const sought = piecesIn(handlers, workState.value);
  const all = sought.length === 0 ? handlers : sought;
  return all.toSorted((one, other) => Number(hasFailed(other)) - Number(hasFailed(one)));
}

const hasFailed = ({ error, reason, state }: ListedEvent["handlers"][number]): boolean =>
  state !== "done" && (error ?? reason) !== null;

/** Their names, of several the first. */
function handlersOf(event: ListedEvent): string {
  const [first, ...rest] = piecesOf(event).filter(({ handler }) => handler !== NOTE_HANDLER);
  if (first === undefined) return "";
  return rest.length === 0 ? shortText(first.handler) : `${shortText(first.handler)} and ${rest.length} more`;
}

/** When work of it runs next; empty where none waits, and beside work that has stopped. */
function nextRun({ nextRunAt, ...event }: ListedEvent): string {
  if (piecesIn(event.handlers, workState.value).some(isStopped)) return "";
  if (waitsForResume(event, pausedHandlers.value)) return "paused";
  return nextRunAt === null ? "" : `next ${formatTime(nextRunAt)}`;
}

/** The first line of the error of the handler that failed, with its name. */
function lastError(event: ListedEvent): string {
  const failed = [...piecesOf(event), ...event.handlers].find(hasFailed);
  if (failed === undefined) return "";
  const text = shortText((failed.error ?? failed.reason ?? "").split("\n", 1)[0] ?? "");
  return failed.handler !== NOTE_HANDLER ? `${shortText(failed.handler)}: ${text}` : text;
}

/** True for an event that has work to run, all of it of handlers that are paused. */
function waitsForResume({ handlers }: Pick<ListedEvent, "handlers">, paused: readonly PausedHandlerRow[]): boolean {
  const waiting = handlers.filter(({ dueAt }) => dueAt !== null);
  return waiting.length > 0 && waiting.every(({ handler }) => paused.some((pause) => pause.handler === handler));
}
