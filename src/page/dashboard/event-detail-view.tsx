import { Time } from "../ui/time.js";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { errorMessage } from "../../base/error-text.js";
import type { WholeEvent, EventDeliveries, ShownPayload } from "../../web/api/event.js";
import { mergeTimelines } from "../../operator/event-timeline.js";
import { fetchDeliveries, postExport, postUnveiling, viewer } from "../api/calls.js";
import { BodyView } from "../message/body-view.js";
import { Remark } from "../ui/remark.js";
import { ContactEventList } from "../message/contact-event-list.js";
import { HandlerList } from "../message/handler-list.js";
import { Timeline } from "../message/timeline.js";
import { useEvent } from "../message/use-event.js";
import { WorkButtons } from "../message/work-buttons.js";
import { linkTo, readParam } from "../state/address.js";
import { confirmed } from "../state/confirmed.js";
import { copyText, saveFile } from "../state/copy-or-save.js";
import { diagnoseWork } from "../state/diagnosis.js";
import { runAction } from "../state/notice.js";
import { StateBadge } from "../ui/badges.js";
import { CopyFact } from "../ui/copy-button.js";
import { Empty } from "../ui/empty.js";
import { Button } from "../ui/button.js";
import { Icon } from "../ui/icon.js";
import { Menu } from "../ui/menu.js";
import { formatBytes, shortText } from "../text/format.js";
import { endedJobs } from "./jobs/jobs.js";

/** One event with all that is known about it. Its address can be shared. */
export function EventDetailView() {
  const id = readParam("id");
  const event = useEvent(id, [endedJobs.value]);
  if (id === "" || event === null) {
    return (
      <Empty title={id === "" ? "No event is named" : "The inbox does not have this event"} isView>
        {id !== "" && <code>{shortText(id)}</code>}
        <p>It may have been removed after its retention.</p>
        <a href={linkTo("work")}>All work</a>
      </Empty>
    );
  }
  return event === undefined ? <p class="hint dash-loading">Loading…</p> : <Loaded key={id} event={event} />;
}

function Loaded({ event }: { event: WholeEvent }) {
  const { id, type, receivedAt, test } = event;
  const found = diagnoseWork(event);
  const heading = useRef<HTMLHeadingElement>(null);
  // The row that was opened is gone, and the focus with it.
  useEffect(() => {
    if (document.activeElement === document.body) heading.current?.focus();
  }, []);
  return (
    <div class="dash-view">
      <header class="detail-head">
        <div class="detail-title">
          <h1 ref={heading} tabIndex={-1}>
            {type === "" ? "Unreadable event" : shortText(type)}
          </h1>
          <StateBadge state={event.state} />
          {test && <span class="tag">test</span>}
        </div>
        {found !== undefined && (
          <Remark tone={found.tone} role="status" text={shortText(found.text)}>
            <WorkButtons event={event} />
          </Remark>
        )}
        <p class="facts">
          <CopyFact text={id} what="the event's id" />
          <Time at={receivedAt} before="received " class="fact" />
        </p>
        <div class="actions" role="toolbar" aria-label="Event">
          {found === undefined && <WorkButtons event={event} />}
          <Button icon="copy" label="Copy link" run={() => copyText(location.href, "the address of this page")} />
          {event.payload.kind !== "gone" && viewer.value?.payloads !== "hidden" && <ExportMenu id={id} />}
        </div>
      </header>
      <div class="dash-scroll dash-list event-parts" tabIndex={0} role="region" aria-label="Event">
        <section aria-label="Time line">
          <h2>Time line</h2>
          <WholeTimeline event={event} />
        </section>
        <div class="event-side">
          <section aria-label="Handlers">
            <h2>Handlers</h2>
            <HandlerList event={event} />
          </section>
          <ContactEventList event={event} Heading="h2" />
          <PayloadPart event={event} />
        </div>
      </div>
    </div>
  );
}

function ExportMenu({ id }: { id: string }) {
  const save = (kind: "fixture" | "capture") => () => void runAction(async () => saveFile(await postExport(id, kind)));
  return (
    <Menu
      label="Export as fixture or capture"
      items={[
        { label: "Save as fixture", hint: "For the app's own tests", run: save("fixture") },
        { label: "Save redacted capture", hint: "For pigeonhole replay", run: save("capture") },
      ]}
    >
      <Icon name="download" /> Export <Icon name="chevron" />
    </Menu>
  );
}

/** An event's life from the first attempt of the service: its attempts come later, since the service is asked. */
function WholeTimeline({ event: { id, timeline } }: { event: WholeEvent }) {
  const [read, setRead] = useState<EventDeliveries | null>(null);
  useEffect(() => {
    const fail = (error: unknown) => setRead({ attempts: [], note: `Attempts of the service: ${errorMessage(error)}` });
    fetchDeliveries(id).then(setRead, fail);
  }, [id]);
  const entries = useMemo(() => mergeTimelines(read?.attempts ?? [], timeline), [read, timeline]);
  const note = read === null ? "Reading the service's delivery log…" : read.note;
  return (
    <>
      <p class="hint timeline-note" role="status">
        {note !== null && shortText(note)}
      </p>
      <Timeline entries={entries} />
    </>
  );
}

const WORDS: Record<ShownPayload["kind"], string> = {
  hidden: "Payloads are hidden here.",
  redacted: "Without personal data.",
  gone: "Dropped by retention or erased.",
  too_large: "Too large to be shown without personal data.",
};

/** The payload as far as it may be shown, and a button for the whole of it where that is allowed. */
function PayloadPart({ event: { id, payload } }: { event: WholeEvent }) {
  // Not kept on a page that nobody looks at.
  const [whole, setWhole] = useState<string | null>(null);
  const isWhole = whole !== null;
  const shown = whole ?? payload.text;
  const unveil = () =>
    runAction(async () => {
      const isSure = await confirmed({
        title: "Show the payload in full?",
        text: "It can contain personal data. Your name is logged with the id of the event.",
        verb: "Show it",
      });
      if (isSure) setWhole((await postUnveiling(id)).text);
    });
  const body = useMemo(() => ({ encoding: "utf8" as const, data: shown ?? "" }), [shown]);
  return (
    <section aria-label="Payload">
      <h2>Payload</h2>
      <p class="hint payload-facts">
        {isWhole ? "In full. Your name was logged." : WORDS[payload.kind]}
        {payload.bytes !== null && ` ${formatBytes(payload.bytes)}.`}
      </p>
      {payload.canUnveil && !isWhole && (
        <Button icon="eye" label="Show it in full…" class="small" run={() => unveil()} />
      )}
      {shown !== null && <BodyView body={body} label="Payload" isEvent />}
    </section>
  );
}
