import { escapeControlsInLines } from "../../../base/text.js";
import type { DashboardEventDetail } from "../../../dashboard/api/event.js";
import { LongText } from "../../message/long-text.js";
import { RefusalTags } from "../../outbox/refusal-tags.js";
import { ContactEventBadge } from "../../ui/badges.js";
import { formatExactTime, formatTime } from "../../ui/format.js";
import { linkTo } from "../../state/address.js";
import { WaitsBehind } from "../../outbox/waits-behind.js";
import { shortText } from "../../ui/short-text.js";

/** The contact events that the event's handlers recorded, with what the API made of them. */
export function ContactEventResults({ event: detail }: { event: DashboardEventDetail }) {
  const { id, contactEvents: events, hasMoreContactEvents } = detail;
  if (events.length === 0) return null;
  return (
    <section aria-label="Contact events">
      <h2>Contact events</h2>
      <ul class="handlers">
        {events.map((event) => (
          <li key={event.key} class="handler">
            <div class="handler-head">
              <ContactEventBadge event={event} />
              <a href={linkTo("outbox", { key: event.key })}>{shortText(event.name)}</a>
              <span class="hint">{shortText(event.contact)}</span>
              <span class="hint" title={formatExactTime(event.recordedAt)}>
                {formatTime(event.recordedAt)}
              </span>
              <RefusalTags event={event} />
            </div>
            <WaitsBehind call={event.waitsBehind} />
            <Failure text={event.state === "done" ? null : (event.message ?? event.error)} />
          </li>
        ))}
      </ul>
      {hasMoreContactEvents && (
        <p>
          The newest {events.length} are shown. <a href={linkTo("outbox", { event: id })}>All of this event</a>
        </p>
      )}
    </section>
  );
}

/** Of a message, beside which there are others. */
const SHOWN = 2000;

function Failure({ text }: { text: string | null }) {
  return text === null ? null : <LongText text={escapeControlsInLines(text)} class="text error-text" shown={SHOWN} />;
}
