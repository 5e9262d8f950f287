import { NOTE_HANDLER } from "../../base/note-handler.js";
import { escapeControlsInLines } from "../../base/text.js";
import type { TimelineEntry } from "../../operator/event-timeline.js";
import { LongText } from "./long-text.js";
import { Icon, type IconName } from "../ui/icon.js";
import { formatExactTime, formatTime, shortText } from "../text/format.js";
import { linkTo } from "../state/address.js";

const FACES: Record<TimelineEntry["kind"], { icon: IconName; tone: string }> = {
  attempt_failed: { icon: "cross", tone: "bad" },
  attempt_delivered: { icon: "arrow", tone: "good" },
  signed: { icon: "edit", tone: "mute" },
  received: { icon: "arrow", tone: "mute" },
  failed: { icon: "cross", tone: "bad" },
  more_runs: { icon: "cross", tone: "mute" },
  step_done: { icon: "check", tone: "mute" },
  next_run: { icon: "clock", tone: "warn" },
  running: { icon: "arrow", tone: "warn" },
  waits: { icon: "clock", tone: "mute" },
  retry_requested: { icon: "replay", tone: "warn" },
  done: { icon: "check", tone: "good" },
  discarded: { icon: "minus", tone: "mute" },
  dead: { icon: "cross", tone: "bad" },
  parked: { icon: "warning", tone: "warn" },
  contact_event_recorded: { icon: "send", tone: "mute" },
  contact_event_settled: { icon: "send", tone: "mute" },
};

/** What the service says, by its own clock. */
const OF_SERVICE: ReadonlySet<TimelineEntry["kind"]> = new Set(["attempt_failed", "attempt_delivered"]);

/** An event's life, oldest first. */
export function Timeline({ entries }: { entries: readonly TimelineEntry[] }) {
  return (
    <ol class="timeline">
      {entries.map((entry, index) => (
        <Entry key={index} entry={entry} />
      ))}
    </ol>
  );
}

function Entry({ entry: { kind, at, handler, attempt, text, detail, key } }: { entry: TimelineEntry }) {
  const { icon, tone } = FACES[kind];
  return (
    <li class={`timeline-entry ${tone}`}>
      <span class="timeline-sign">
        <Icon name={icon} />
      </span>
      <div class="timeline-text">
        <p>
          {shortText(text)}
          {handler !== null && handler !== NOTE_HANDLER && <span class="tag">{shortText(handler)}</span>}
          {OF_SERVICE.has(kind) && <span class="tag">service's log</span>}
          {attempt !== null && <span class="hint"> run {attempt}</span>}
          {key !== null && (
            <a href={linkTo("outbox", { key })} class="timeline-link">
              show it
            </a>
          )}
        </p>
        {detail !== null && (
          <details>
            <summary>Details</summary>
            <LongText text={escapeControlsInLines(detail)} class={tone === "bad" ? "text error-text" : "text"} />
          </details>
        )}
      </div>
      {at === null ? (
        <span class="hint timeline-time">time not kept</span>
      ) : (
        <time class="hint timeline-time" dateTime={at} title={formatExactTime(at)}>
          {formatTime(at)}
        </time>
      )}
    </li>
  );
}
