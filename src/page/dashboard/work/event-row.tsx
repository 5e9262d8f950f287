import { NOTE_HANDLER } from "../../../base/note-handler.js";
import { piecesIn } from "../../../capture/model/work-word.js";
import type { DashboardEvent, PausedHandlerRow } from "../../../dashboard/api/work.js";
import { ListedBadge } from "../../ui/badges.js";
import { formatExactTime, formatTime } from "../../ui/format.js";
import { goTo, linkTo } from "../../state/address.js";
import { mayOperate } from "../state/dashboard-session.js";
import { now } from "../../state/now.js";
import { eventSelection, workState } from "./work-state.js";
import { shortText } from "../../ui/short-text.js";

/** One event of the list; a click opens its page. */
export function EventRow({ event }: { event: DashboardEvent }) {
  const { id, type, receivedAt, nextRunAt, test } = event;
  const error = lastError(event);
  return (
    <tr data-row={id} onClick={() => goTo("event", { id })}>
      {mayOperate.value && (
        <td class="choose" onClick={(click) => click.stopPropagation()}>
          <input
            type="checkbox"
            aria-label={`Choose ${shortText(id)}`}
            checked={eventSelection.has(id)}
            onChange={() => eventSelection.toggle(id)}
          />
        </td>
      )}
      <td class="state-column">
        <ListedBadge event={event} state={workState.value} />
      </td>
      <td class="received-column" title={formatExactTime(receivedAt)}>
        {formatTime(receivedAt)}
      </td>
      <td class="name-column">
        {type === "" ? <em>unreadable</em> : shortText(type)} {test && <span class="tag">test</span>}
      </td>
      <td class="event-column">
        <a href={linkTo("event", { id })} onClick={(click) => click.stopPropagation()}>
          <code>{shortText(id)}</code>
        </a>
      </td>
      {waitsForResume(event, now.value?.paused ?? []) ? (
        <td class="next-column held" title={whyHeld(event)}>
          paused
        </td>
      ) : (
        <td class="next-column" title={nextRunAt === null ? "" : formatExactTime(nextRunAt)}>
          {nextRunAt !== null && formatTime(nextRunAt)}
        </td>
      )}
      <td class="error-cell" title={error}>
        {error}
      </td>
    </tr>
  );
}

/** The next run is known, although it waits until the handler is resumed. */
function whyHeld({ nextRunAt }: DashboardEvent): string {
  return nextRunAt === null
    ? "Its handler is paused."
    : `Its handler is paused; the next run is due ${formatExactTime(nextRunAt)}.`;
}

/** The error of the handler that failed, with its name where there are several; first of what the list is about. */
function lastError({ handlers }: DashboardEvent): string {
  const sought = [...piecesIn(handlers, workState.value), ...handlers];
  const failed =
    sought.find(({ error, state }) => error !== null && state !== "done") ??
    sought.find(({ reason, state }) => reason !== null && state !== "done");
  if (failed === undefined) return "";
  const text = shortText(failed.error ?? failed.reason ?? "");
  return handlers.length > 1 && failed.handler !== NOTE_HANDLER ? `${shortText(failed.handler)}: ${text}` : text;
}

/** True for an event that has work to run, all of it of handlers that are paused. */
function waitsForResume({ handlers }: DashboardEvent, paused: readonly PausedHandlerRow[]): boolean {
  const waiting = handlers.filter(({ state }) => state === "pending");
  return waiting.length > 0 && waiting.every(({ handler }) => paused.some((pause) => pause.handler === handler));
}
