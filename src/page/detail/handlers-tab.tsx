import { escapeControls } from "../../base/text.js";
import { describeAnswer } from "../../capture/model/answer.js";
import { type ShownAnswer, judgeShown, shownAnswer } from "../../capture/model/answer-advice.js";
import type { Capture } from "../../capture/model/capture.js";
import { isRefused, sentEventId, sentEventIds } from "../../capture/model/sent-event-id.js";
import { ContactEventList } from "../message/contact-event-list.js";
import { HandlerList } from "../message/handler-list.js";
import { Timeline } from "../message/timeline.js";
import { useEvent } from "../message/use-event.js";
import { WorkButtons } from "../message/work-buttons.js";
import { session } from "../state/session.js";
import { detail } from "../state/detail.js";
import { diagnose } from "../state/diagnosis.js";
import { soughtIds, workOf, works } from "../state/work.js";

/** What the app's handlers made of the delivery, and of its replays under other event ids. */
export function HandlersTab({ capture }: { capture: Capture }) {
  if (session.value?.inbox !== true) {
    return (
      <div class="nothing">
        <p>The results of handlers are not known here.</p>
        <NoInbox />
      </div>
    );
  }
  const ids = sentEventIds(capture);
  const last = capture.attempts.at(-1);
  if (ids.length === 0) {
    const isTaken = last === undefined || !isRefused(last);
    const why = isTaken ? "The delivery has no event id, so no handler can get it." : describeLast(shownAnswer(last));
    return <p class="nothing">{why}</p>;
  }
  return (
    <>
      {ids.map((id) => (
        <SentEvent key={id} id={id} capture={capture} isOnly={ids.length === 1} />
      ))}
    </>
  );
}

function SentEvent({ id, capture, isOnly }: { id: string; capture: Capture; isOnly: boolean }) {
  const work = works.value.get(id);
  const event = useEvent(work === undefined ? "" : id, [work]);
  const title = isOnly ? "" : id === sentEventId(capture) ? " of the captured event" : " of a replay";
  return (
    <section class="sent-event" aria-label={`Handlers of ${escapeControls(id)}`}>
      <div class="handlers-head">
        <h3>Handlers{title}</h3>
        {!isOnly && <code class="hint">{escapeControls(id)}</code>}
        <span class="spring" />
        {work !== undefined && !isDiagnosed(id) && <WorkButtons event={event ?? work} />}
      </div>
      {work === undefined && soughtIds.value.has(id) && <NotInInbox capture={capture} />}
      {event === null && <p class="nothing">The inbox does not have this event any more.</p>}
      {event === undefined && work !== undefined && <p class="hint">Loading…</p>}
      {event != null && (
        <>
          <HandlerList event={event} />
          <ContactEventList event={event} Heading="h3" />
          <section aria-label="Time line">
            <h3>Time line</h3>
            <Timeline entries={event.timeline} />
          </section>
        </>
      )}
    </section>
  );
}

/** Whether the line under the title has the buttons of the event. */
function isDiagnosed(id: string): boolean {
  const remedy = detail.value === null ? undefined : diagnose(detail.value, workOf(detail.value.summary))?.remedy;
  return typeof remedy === "object" && remedy.id === id;
}

function NotInInbox({ capture }: { capture: Capture }) {
  const last = capture.attempts.at(-1);
  return (
    <div class="nothing">
      <p>The inbox does not have this event.</p>
      <p class="hint">{last === undefined ? "It was not sent to an app." : describeLast(shownAnswer(last))}</p>
    </div>
  );
}

function describeLast(last: ShownAnswer): string {
  const answer = `The app's last answer: ${describeAnswer(last)}${last.notReceived ? ", an HTML page" : ""}`;
  return last.notReceived || judgeShown(last) === "bad"
    ? `${answer}. It has not taken the event, so no handler runs.`
    : `${answer}. Is it the app of this inbox?`;
}

/** Why the result of the handlers is not known, and how to show it. */
export function NoInbox() {
  return (
    <>
      <p>Start the dev server with --inbox and the database of your receiver, a SQLite file or a PostgreSQL:</p>
      <p>
        <code>pigeonhole dev --inbox inbox.db</code>
      </p>
      <p>
        <code>pigeonhole dev --inbox postgres://…</code>
      </p>
    </>
  );
}
