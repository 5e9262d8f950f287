import type { CaptureSummary } from "../../capture/model/capture.js";
import { WORK_PREFIX } from "../../dev/api/page-api.js";
import { captures, query, setQuery, totalCaptures } from "../state/captures.js";
import { inboxCounts, loadInboxCounts } from "../state/inbox-counts.js";
import { session } from "../state/session.js";
import { useListRefresh } from "../ui/use-list-refresh.js";
import { formatCount, plural } from "../text/format.js";
import { splitTerms, toggleTerm } from "../state/search-terms.js";

interface Band {
  term: string;
  label: string;
  tone: "mute" | "warn" | "bad";
}

const answered = (from: number, to: number) => (capture: CaptureSummary) =>
  capture.status !== null && capture.status >= from && capture.status < to;

/** Of the listed captures. An answer of 2xx has no colour: it does not say what the handlers made of the event. */
const BANDS: readonly (Band & { has: (capture: CaptureSummary) => boolean })[] = [
  { term: "status:2xx", label: "2xx", tone: "mute", has: answered(0, 300) },
  { term: "outcome:parked", label: "parked", tone: "warn", has: ({ outcome }) => outcome === "parked" },
  { term: "status:4xx", label: "4xx", tone: "warn", has: answered(400, 500) },
  { term: "status:5xx", label: "5xx", tone: "bad", has: answered(500, Infinity) },
  { term: "has:error", label: "no answer", tone: "bad", has: ({ status, error }) => status === null && error !== null },
  { term: "verdict:bad", label: "bad signature", tone: "warn", has: ({ verdict }) => verdict !== "ok" },
];

/** Of the whole inbox: what handlers made of its events. */
const WORK_BANDS = (["pending", "retrying", "running", "parked", "dead"] as const).map((state) => ({
  term: `${WORK_PREFIX}state:${state}`,
  label: state === "dead" || state === "parked" ? `handlers: ${state}` : state,
  tone: state === "dead" ? "bad" : state === "parked" ? "warn" : "mute",
  state,
}));

/** The number of captures of each kind. A click filters by it. */
export function StatusStrip() {
  const active = new Set(splitTerms(query.value));
  const hasInbox = session.value?.inbox === true;
  useListRefresh(() => void (hasInbox && loadInboxCounts()), [hasInbox]);
  const inInbox = inboxCounts.value;
  const bands = [
    ...BANDS.map((band) => ({ ...band, count: captures.value.filter(band.has).length })),
    ...WORK_BANDS.map((band) => ({ ...band, count: inInbox?.[band.state] ?? 0 })),
  ];
  const shown = captures.value.length;
  return (
    <div class="strip" role="group" aria-label="Filters">
      <span class="strip-count">
        {shown < totalCaptures.value && `${formatCount(shown)} of `}
        {plural(totalCaptures.value, "delivery", "deliveries")}
      </span>
      {bands
        .filter(({ term, count }) => count > 0 || active.has(term))
        .map(({ term, label, tone, count }) => (
          <button
            key={term}
            type="button"
            class={`band ${tone}`}
            aria-pressed={active.has(term)}
            onClick={() => setQuery(toggleTerm(query.value, term))}
          >
            <span class="band-dot" />
            {label} <b>{formatCount(count)}</b>
          </button>
        ))}
    </div>
  );
}
