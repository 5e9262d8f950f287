import { escapeControls } from "../../base/text.js";
import { captureHandle } from "../../capture/model/capture-handle.js";
import type { InboxEventDetail, ContactEventPage } from "../../dev/api/page-api.js";
import { BodyView } from "../message/body-view.js";
import { HandlerList } from "../message/handler-list.js";
import { WorkButtons } from "../message/work-buttons.js";
import { goTo } from "../state/address.js";
import { retries, works } from "../state/work.js";
import { EventBadge, ContactEventBadge } from "../ui/badges.js";
import { CloseButton } from "../ui/close-button.js";
import { CopyFact } from "../ui/copy-fact.js";
import { Icon } from "../ui/icon.js";
import { formatExactTime, formatTime } from "../ui/format.js";
import { closeRow } from "./inbox-state.js";
import { useState } from "preact/hooks";
import { listRecordedContactEvents } from "../api/calls.js";
import { runAction } from "../state/notice.js";
import { useRefresh } from "./use-refresh.js";

/** One event of the inbox: each handler's work, and the body. */
export function EventDetailPane({ event }: { event: InboxEventDetail }) {
  // The work goes on while the event is shown.
  const work = works.value.get(event.id) ?? { event, errors: event.errors };
  return (
    <section class="detail" aria-label="Event">
      <header class="detail-head">
        <div class="detail-title">
          <h2>{event.type === "" ? "Unreadable event" : escapeControls(event.type)}</h2>
          <EventBadge event={work.event} />
          {event.test && <span class="tag">test</span>}
          <span class="spring" />
          <CloseButton onClick={closeRow} />
        </div>
        <p class="facts">
          <CopyFact text={event.id} what="the event's id" />
          <span class="fact" title={formatExactTime(event.receivedAt)}>
            {formatTime(event.receivedAt)}
          </span>
        </p>
        <div class="actions" role="toolbar" aria-label="Event">
          <WorkButtons event={work.event} />
          {event.captureIds.map((captureId, index) => (
            <button
              type="button"
              class="button"
              key={captureId}
              onClick={() => goTo("deliveries", { open: captureId, tab: "handlers" })}
            >
              <Icon name="deliveries" /> {index === 0 ? "Open the delivery" : captureHandle(captureId)}
            </button>
          ))}
          {event.captureIds.length === 0 && <span class="hint">No capture of this event is kept here.</span>}
        </div>
      </header>
      <div class="detail-body">
        <h3>Handlers</h3>
        <HandlerList work={work} retried={retries.value.get(event.id)} />
        <ContactEventsOfEvent key={event.id} eventId={event.id} />
        <h3>Body</h3>
        {event.body === null ? (
          <p class="nothing">Dropped by retention or erased.</p>
        ) : (
          <BodyView body={{ encoding: "utf8", data: event.body }} label="Body" mustBeJson />
        )}
      </div>
    </section>
  );
}

/** The contact events that handlers recorded for an event; nothing without any. */
function ContactEventsOfEvent({ eventId }: { eventId: string }) {
  const [page, setPage] = useState<ContactEventPage | null>(null);
  useRefresh(() => void runAction(async () => setPage(await listRecordedContactEvents(eventId))), [eventId]);
  if (page === null || page.items.length === 0) return null;
  return (
    <section aria-label="Contact events recorded">
      <h3>Contact events recorded</h3>
      <ul class="handlers">
        {page.items.map((event) => (
          <li key={event.key} class="handler">
            <div class="handler-head">
              <ContactEventBadge event={event} />
              <button
                type="button"
                class="link"
                onClick={() => goTo("inbox", { show: "contact-events", key: event.key })}
              >
                {escapeControls(event.name)}
              </button>
              <span class="hint">{escapeControls(event.contact)}</span>
              <span class="hint" title={formatExactTime(event.recordedAt)}>
                {formatTime(event.recordedAt)}
              </span>
            </div>
          </li>
        ))}
      </ul>
      {page.nextCursor !== null && <p class="hint">Only the newest {page.items.length} are shown.</p>}
    </section>
  );
}
