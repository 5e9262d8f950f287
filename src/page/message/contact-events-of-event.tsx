import { useState } from "preact/hooks";
import { escapeControls } from "../../base/text.js";
import type { ContactEventPage } from "../../dev/api/page-api.js";
import { listRecordedContactEvents } from "../api/calls.js";
import { linkTo } from "../state/address.js";
import { runAction } from "../state/notice.js";
import { ContactEventBadge } from "../ui/badges.js";
import { formatExactTime, formatTime } from "../ui/format.js";
import { useRefresh } from "../ui/use-refresh.js";

/** The contact events that handlers recorded for an event; nothing without any. */
export function ContactEventsOfEvent({ eventId }: { eventId: string }) {
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
              <a href={linkTo("outbox", { key: event.key })}>{escapeControls(event.name)}</a>
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
