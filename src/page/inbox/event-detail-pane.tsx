import { NOTE_HANDLER } from "../../base/note-handler.js";
import { escapeControls } from "../../base/escape-controls.js";
import type { InboxEventDetail, InboxHandler } from "../../dev/api/page-api.js";
import { BodyView } from "../message/body-view.js";
import { EventBadge, StateBadge } from "../ui/badges.js";
import { copyText } from "../state/copy-text.js";
import { Icon } from "../ui/icon.js";
import { formatExactTime, formatTime, plural } from "../ui/format.js";
import { changeEvent, openEvent } from "./inbox-state.js";

/** One event of the inbox: each handler's work, and the body. */
export function EventDetailPane({ event }: { event: InboxEventDetail }) {
  return (
    <section class="detail" aria-label="Event">
      <header class="detail-head">
        <div class="detail-title">
          <h1>{escapeControls(event.type)}</h1>
          <EventBadge event={event} />
          {event.test && <span class="tag">test</span>}
          <span class="spring" />
          <button
            type="button"
            class="icon-button"
            aria-label="Close"
            title="Close (Esc)"
            onClick={() => (openEvent.value = null)}
          >
            <Icon name="cross" />
          </button>
        </div>
        <p class="facts">
          <button
            type="button"
            class="fact copy-fact"
            title="Copy the event's id"
            onClick={() => void copyText(event.id, event.id)}
          >
            <code>{escapeControls(event.id)}</code>
          </button>
          <span class="fact" title={formatExactTime(event.receivedAt)}>
            {formatTime(event.receivedAt)}
          </span>
        </p>
        {event.state !== "done" && (
          <div class="actions" role="toolbar" aria-label="Event">
            <button type="button" class="button primary" onClick={() => void changeEvent(event.id, "retry")}>
              <Icon name="replay" /> Retry
            </button>
            <button type="button" class="button danger" onClick={() => void changeEvent(event.id, "discard")}>
              <Icon name="trash" /> Discard
            </button>
          </div>
        )}
      </header>
      <div class="detail-body">
        <h3>Handlers</h3>
        {event.handlers.length === 0 && (
          <p class="nothing">
            {event.test ? "A test delivery: handlers get it with the option testEvents." : "No handler has work on it."}
          </p>
        )}
        <ul class="handlers">
          {event.handlers.map((handler) => (
            <HandlerRow key={handler.handler} handler={handler} />
          ))}
        </ul>
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

function HandlerRow({ handler }: { handler: InboxHandler }) {
  return (
    <li class="handler">
      <div class="handler-head">
        <StateBadge state={handler.state} />
        <b>{handler.handler === NOTE_HANDLER ? "not understood" : handler.handler}</b>
        {handler.handler !== NOTE_HANDLER && <span class="hint">{plural(handler.attempts, "attempt")}</span>}
        {handler.retryRequestedAt !== null && <span class="hint">waits to be read again</span>}
        {handler.dueAt !== null && handler.state === "pending" && (
          <span class="hint" title={formatExactTime(handler.dueAt)}>
            next at {formatTime(handler.dueAt)}
          </span>
        )}
        {handler.reason !== null && <code class="hint">{handler.reason}</code>}
      </div>
      {handler.error !== null && <pre class="text error-text">{handler.error}</pre>}
    </li>
  );
}
