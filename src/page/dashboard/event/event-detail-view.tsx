import { useEffect, useMemo, useRef } from "preact/hooks";
import type { DashboardEventDetail, ShownPayload } from "../../../web/api/event.js";
import { HandlerList } from "../../message/handler-list.js";
import { EventBadge } from "../../ui/badges.js";
import { CopyFact } from "../../ui/copy-fact.js";
import { Empty } from "../../ui/empty.js";
import { formatExactTime, formatTime, formatBytes } from "../../ui/format.js";
import { linkTo, readParam } from "../../state/address.js";
import { endedJobs } from "../state/jobs.js";
import { useListRefresh } from "../../ui/use-list-refresh.js";
import { EventActions } from "./event-actions.js";
import { event, loadEvent, missing, unveiled, unveil } from "./event-state.js";
import { ContactEventList } from "../../message/contact-event-list.js";
import { loadDeliveries } from "./delivery-state.js";
import { WholeTimeline } from "./whole-timeline.js";
import { shortText } from "../../ui/short-text.js";
import { BodyView } from "../../message/body-view.js";
import { Icon } from "../../ui/icon.js";

/** One event with all that is known about it. Its address can be shared. */
export function EventDetailView() {
  const id = readParam("id");
  useListRefresh(
    () => void loadEvent(id),
    () => false,
    [id, endedJobs.value],
  );
  useEffect(() => void loadDeliveries(id), [id]);
  // What was unveiled is not kept on a page that nobody looks at.
  useEffect(() => () => void (unveiled.value = null), []);
  if (id === "" || missing.value === id) {
    return (
      <Empty title={id === "" ? "No event is named" : "The inbox does not have this event"} isView>
        {id !== "" && <code>{shortText(id)}</code>}
        <p>It may have been removed after its retention.</p>
        <a href={linkTo("work")}>All work</a>
      </Empty>
    );
  }
  const loaded = event.value;
  if (loaded === null || loaded.id !== id) return <p class="hint dash-loading">Loading…</p>;
  return <Loaded event={loaded} />;
}

function Loaded({ event: detail }: { event: DashboardEventDetail }) {
  const { id, type, receivedAt, test, errors, steps, otherBytes } = detail;
  const work = { event: detail, errors, steps };
  const heading = useRef<HTMLHeadingElement>(null);
  // The row that was opened is gone, and the focus with it.
  useEffect(() => {
    if (document.activeElement === document.body) heading.current?.focus();
  }, [id]);
  return (
    <div class="dash-view">
      <header class="detail-head">
        <div class="detail-title">
          <h1 ref={heading} tabIndex={-1}>
            {type === "" ? "Unreadable event" : shortText(type)}
          </h1>
          <EventBadge event={detail} />
          {test && <span class="tag">test</span>}
        </div>
        <p class="facts">
          <CopyFact text={id} what="the event's id" />
          <span class="fact" title={formatExactTime(receivedAt)}>
            received {formatTime(receivedAt)}
          </span>
        </p>
        <EventActions event={detail} />
      </header>
      <div class="dash-scroll dash-list event-parts" tabIndex={0} role="region" aria-label="Event">
        <section aria-label="Time line">
          <h2>Time line</h2>
          <WholeTimeline event={detail} />
        </section>
        <div class="event-side">
          <section aria-label="Handlers">
            <h2>Handlers</h2>
            <HandlerList work={work} />
          </section>
          <ContactEventList events={detail.contactEvents} eventId={id} hasMore={detail.hasMoreContactEvents} />
          <PayloadPart event={detail} />
          {otherBytes.length > 0 && <OtherBodies ids={otherBytes} />}
        </div>
      </div>
    </div>
  );
}

function OtherBodies({ ids }: { ids: readonly string[] }) {
  return (
    <section aria-label="Other bodies">
      <h2>Other bodies under this id</h2>
      <ul>
        {ids.map((id) => (
          <li key={id}>
            <a href={linkTo("event", { id })}>
              <code>{shortText(id)}</code>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

const WORDS: Record<ShownPayload["kind"], string> = {
  hidden: "Payloads are hidden here.",
  redacted: "Without personal data.",
  gone: "Dropped by retention or erased.",
  too_large: "Too large to be shown without personal data.",
};

/** The payload as far as it may be shown, and a button for the whole of it where that is allowed. */
function PayloadPart({ event: { id, payload } }: { event: DashboardEventDetail }) {
  const shown = unveiled.value?.id === id ? unveiled.value.text : payload.text;
  const isWhole = unveiled.value?.id === id;
  const body = useMemo(() => ({ encoding: "utf8" as const, data: shown ?? "" }), [shown]);
  return (
    <section aria-label="Payload">
      <h2>Payload</h2>
      <p class="hint payload-facts">
        {isWhole ? "In full. Your name was logged." : WORDS[payload.kind]}
        {payload.bytes !== null && ` ${formatBytes(payload.bytes)}.`}
      </p>
      {payload.canUnveil && !isWhole && (
        <button type="button" class="button small" onClick={() => void unveil(id)}>
          <Icon name="eye" /> Show it in full…
        </button>
      )}
      {shown !== null && <BodyView body={body} label="Payload" isEvent />}
    </section>
  );
}
