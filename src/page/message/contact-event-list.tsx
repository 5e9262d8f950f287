import { escapeControlsInLines } from "../../base/text.js";
import type { ListedContactEvent } from "../../web/api/contact-events.js";
import { LongText } from "./long-text.js";
import { linkTo } from "../state/address.js";
import { ContactStateBadge } from "../ui/badges.js";
import { formatExactTime, formatTime } from "../ui/format.js";
import { shortText } from "../ui/short-text.js";
import { RefusalTags } from "./refusal-tags.js";
import { WaitsBehind } from "./waits-behind.js";

/** Of a message, beside which there are others. */
const SHOWN = 2000;

interface ContactEventListOptions {
  events: readonly ListedContactEvent[];
  /** The event that recorded them. */
  eventId: string;
  hasMore: boolean;
  Heading: "h2" | "h3";
}

/** The contact events that an event's handlers recorded, with what the API made of them; nothing without any. */
export function ContactEventList({ events, eventId, hasMore, Heading }: ContactEventListOptions) {
  if (events.length === 0) return null;
  return (
    <section aria-label="Contact events">
      <Heading>Contact events</Heading>
      <ul class="handlers">
        {events.map((event) => {
          const why = event.state === "done" ? null : (event.message ?? event.error);
          return (
            <li key={event.key} class="handler">
              <div class="handler-head">
                <ContactStateBadge state={event.state} />
                <a href={linkTo("outbox", { key: event.key })}>{shortText(event.name)}</a>
                <span class="hint">{shortText(event.contact)}</span>
                <span class="hint" title={formatExactTime(event.recordedAt)}>
                  {formatTime(event.recordedAt)}
                </span>
                <RefusalTags event={event} />
              </div>
              <WaitsBehind call={event.waitsBehind} />
              {why !== null && <LongText text={escapeControlsInLines(why)} class="text error-text" shown={SHOWN} />}
            </li>
          );
        })}
      </ul>
      {hasMore && (
        <p>
          The newest {events.length} are shown. <a href={linkTo("outbox", { event: eventId })}>All of this event</a>
        </p>
      )}
    </section>
  );
}
