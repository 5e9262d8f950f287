import { Time } from "../ui/time.js";
import { escapeControls, escapeControlsInLines } from "../../base/text.js";
import { NOTE_HANDLER } from "../../base/note-handler.js";
import { describeAttempts } from "../../operator/describe-work.js";
import type { EventWithRuns, HandlerDetail } from "../../store/inbox-view.js";
import { StateBadge } from "../ui/badges.js";
import { formatRunTimeBound } from "../../base/run-time-bounds.js";
import { formatExactTime, plural, shortText } from "../text/format.js";

/** Why an event has no work, and what to do about it. */
const TEST_EVENT = "A test delivery: handlers get it with the option testEvents.";
const NO_HANDLER = "No handler took it. Once the app has one for this type, Retry gives it this event.";

/** Each handler's work on an event: runs, errors, the next run. */
export function HandlerList({ event }: { event: EventWithRuns }) {
  return (
    <>
      {event.handlers.length === 0 && <p class="nothing">{event.test ? TEST_EVENT : NO_HANDLER}</p>}
      <ul>
        {event.handlers.map((handler) => (
          <HandlerRow key={handler.handler} handler={handler} receivedAt={event.receivedAt} />
        ))}
      </ul>
    </>
  );
}

type HandlerErrors = NonNullable<HandlerDetail["failed"]>;

function HandlerRow({ handler, receivedAt }: { handler: HandlerDetail; receivedAt: string }) {
  const isNote = handler.handler === NOTE_HANDLER;
  return (
    <li class="handler">
      <div class="handler-head">
        <StateBadge state={handler.state} />
        <b>{isNote ? "not understood" : escapeControls(handler.handler)}</b>
        {handler.retryRequestedAt !== null ? (
          <span class="hint">waiting for the receiver</span>
        ) : (
          !isNote && <span class="hint">{describeAttempts(handler)}</span>
        )}
        {handler.dueAt !== null && <Time at={handler.dueAt} before="next at " class="hint" />}
        {handler.waitsFor !== null && <span class="hint">handler waits: {handler.waitsFor}</span>}
        {handler.reason !== null && <code class="hint">{handler.reason}</code>}
      </div>
      <StepWaterfall receivedAt={receivedAt} work={handler} />
      {(handler.failed === null || handler.waitsFor === "retry_after" || handler.state === "discarded") &&
        handler.error !== null && <pre class="text error-text">{escapeControlsInLines(handler.error)}</pre>}
      {handler.failed !== null && <Errors {...handler.failed} isOver={handler.state === "done"} />}
    </li>
  );
}

/**
 * The steps that a handler has finished, and its failed runs that are kept, each with the time since what ended before:
 * the reception, a step, or a failed run. Nothing for a handler without steps.
 */
function StepWaterfall({ receivedAt, work: { steps, failed } }: { receivedAt: string; work: HandlerDetail }) {
  if (steps.length === 0) return null;
  const kept = failed === null ? [] : [failed.first, failed.last];
  const runs = kept.filter(({ attempt }, index) => attempt !== kept[index - 1]?.attempt);
  const ends = [
    ...steps.map(({ name, at }) => ({ name, tone: "accent", at })),
    ...runs.map(({ attempt, at }) => ({ name: `failed ${attempt}`, tone: "bad", at })),
  ].toSorted((one, other) => one.at.localeCompare(other.at));
  const start = Date.parse(receivedAt);
  const span = Math.max(1, Date.parse(ends.at(-1)?.at ?? "") - start);
  return (
    <ol class="waterfall" aria-label="Steps, with the time since what ended before each">
      {ends.map(({ name, tone, at }, index) => {
        // Clocks of two processes may differ.
        const from = index === 0 ? start : Math.max(start, Date.parse(ends[index - 1]?.at ?? ""));
        const took = Math.max(0, Date.parse(at) - from);
        const place = { marginLeft: `${(100 * (from - start)) / span}%`, width: `${(100 * took) / span}%` };
        return (
          <li key={`${index} ${at} ${name}`} title={formatExactTime(at)}>
            <code>{shortText(name)}</code>
            <span class="waterfall-room">
              <span class={`waterfall-bar ${tone}`} style={place} />
            </span>
            <span class="number" title="Since what ended before">
              {formatRunTimeBound(took)}
            </span>
          </li>
        );
      })}
    </ol>
  );
}

/** The first and the last error in full; those between are counted. `isOver`: the work is done since. */
function Errors({ first, last, isOver }: HandlerErrors & { isOver: boolean }) {
  const between = last.attempt - first.attempt - 1;
  return (
    <>
      {isOver && <p class="hint error-run">Before it was done:</p>}
      <RunName run={first} />
      <pre class="text error-text">{escapeControlsInLines(first.stack)}</pre>
      {between > 0 && <p class="hint error-run">{plural(between, "more failed attempt")} between</p>}
      {between >= 0 && (
        <>
          <RunName run={last} />
          <pre class="text error-text">{escapeControlsInLines(last.stack)}</pre>
        </>
      )}
    </>
  );
}

function RunName({ run: { attempt, at } }: { run: HandlerErrors["last"] }) {
  return (
    <p class="hint error-run">
      Error of attempt {attempt} <Time at={at} before="at " />
    </p>
  );
}
