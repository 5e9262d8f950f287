import { formatRunTimeBound } from "../../base/run-time-bounds.js";
import { escapeControls } from "../../base/text.js";
import { setParams } from "../state/address.js";
import { handlerTimes, shownHandler } from "../state/handler-times.js";
import { session } from "../state/session.js";
import { formatCount, plural } from "../ui/format.js";

/** The choice of a handler, and such as `median below 20 ms · 95 % below 100 ms · 118 runs, 3 failed`. */
export function HandlerTimesInWords() {
  if (session.value?.inbox !== true) {
    return (
      <span class="hint">
        Not known: they are in the inbox of your app. Start with <code>pigeonhole dev --inbox inbox.db</code>.
      </span>
    );
  }
  const rows = handlerTimes.value;
  if (rows === null) return null;
  const shown = shownHandler();
  if (shown === undefined) return <span class="hint">No run in the last 8 days. New ones appear within 20 s.</span>;
  const { handler, runs, failed, medianMs, p95Ms } = shown;
  return (
    <>
      <select
        class="handler-choice"
        aria-label="Handler"
        value={handler}
        onChange={(event) => setParams({ handler: event.currentTarget.value })}
      >
        {rows.map((row) => (
          <option key={row.handler} value={row.handler}>
            {escapeControls(row.handler)}
          </option>
        ))}
      </select>
      <span class="legend" title="All its runs of the last 8 days, also those of deliveries that are not listed">
        median <b>{describeLimit(medianMs)}</b> · 95 % <b>{describeLimit(p95Ms)}</b> · {plural(runs, "run")}
        {failed > 0 && `, ${formatCount(failed)} failed`}
      </span>
    </>
  );
}

function describeLimit(ms: number | null): string {
  return ms === null ? "above 5 min" : `below ${formatRunTimeBound(ms)}`;
}
