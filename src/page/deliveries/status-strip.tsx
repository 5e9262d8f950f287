import { HELD_TAG } from "../../capture/model/capture.js";
import { isHeld } from "../../dev/forward/held-tag.js";
import { captures, query, setQuery, totalCaptures } from "../state/captures.js";
import { inboxCounts, loadInboxCounts } from "../state/inbox-counts.js";
import { session } from "../state/session.js";
import { useListRefresh } from "../ui/use-list-refresh.js";
import { formatCount } from "../ui/format.js";
import { FailureGauge } from "./failure-gauge.js";
import { splitTerms, toggleTerm } from "../state/search-terms.js";

/* An answer of 2xx has no colour: it does not say what the handlers made of the event. */
const BANDS = [
  { term: "status:2xx", label: "2xx", tone: "mute" },
  { term: "outcome:parked", label: "parked", tone: "warn" },
  { term: "status:4xx", label: "4xx", tone: "warn" },
  { term: "status:5xx", label: "5xx", tone: "bad" },
  { term: "has:error", label: "no answer", tone: "bad" },
  { term: `tag:${HELD_TAG}`, label: "held", tone: "warn" },
  { term: "verdict:bad", label: "bad signature", tone: "warn" },
] as const;

/** Of the whole inbox: what handlers made of its events. */
const WORK_BANDS = (["pending", "retrying", "running", "parked", "dead"] as const).map((state) => ({
  term: `work:${state}`,
  label: state === "dead" || state === "parked" ? `handlers: ${state}` : state,
  tone: state === "dead" ? "bad" : state === "parked" ? "warn" : "mute",
  state,
}));

type Term = (typeof BANDS)[number]["term"];

/** The number of captures of each kind. A click filters by it. */
export function StatusStrip() {
  const counts: Record<Term, number> = {
    "status:2xx": 0,
    "outcome:parked": 0,
    "status:4xx": 0,
    "status:5xx": 0,
    "has:error": 0,
    "tag:held": 0,
    "verdict:bad": 0,
  };
  for (const capture of captures.value) {
    const { status, outcome, error, verdict } = capture;
    if (outcome === "parked") counts["outcome:parked"] += 1;
    if (isHeld(capture)) counts["tag:held"] += 1;
    if (verdict !== "ok") counts["verdict:bad"] += 1;
    if (status === null) counts["has:error"] += error === null ? 0 : 1;
    else if (status < 300) counts["status:2xx"] += 1;
    else if (status >= 400) counts[status < 500 ? "status:4xx" : "status:5xx"] += 1;
  }
  const active = new Set(splitTerms(query.value));
  useListRefresh(
    () => void (session.value?.inbox === true && loadInboxCounts()),
    () => false,
    [session.value?.inbox],
  );
  const inInbox = inboxCounts.value?.events;
  const bands = [
    ...BANDS.map((band) => ({ ...band, count: counts[band.term] })),
    ...WORK_BANDS.map((band) => ({ ...band, count: inInbox?.[band.state] ?? 0 })),
  ];
  const shown = captures.value.length;
  return (
    <div class="strip" role="group" aria-label="Filters">
      <span class="strip-count">
        {shown === totalCaptures.value
          ? formatCount(shown)
          : `${formatCount(shown)} of ${formatCount(totalCaptures.value)}`}
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
      <FailureGauge />
    </div>
  );
}
