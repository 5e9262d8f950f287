import { computed, effect, signal } from "@preact/signals";
import type { CaptureSummary } from "../../capture/model/capture.js";
import { eventIdOf } from "../../protocol/inbox-id.js";
import type { EventView } from "../../store/inbox-view.js";
import { takeWork, works as knownWorks } from "./work.js";
import { listCaptures } from "../api/calls.js";
import { PageApiError } from "../../web/page-api-error.js";
import { WORK_PREFIX } from "../../dev/api/page-api.js";
import { splitTerms } from "./search-terms.js";
import { announcement, reportProblem } from "./notice.js";
import { readParam, setParams } from "./address.js";
import { createSelection } from "./create-selection.js";

/** The rows that the query matches, newest first. */
export const captures = signal<readonly CaptureSummary[]>([]);

/** The query that {@link captures} was loaded with: another one is loaded a moment after it is typed. */
export const loadedQuery = signal("");

/** Number of all captures, for any query. */
export const totalCaptures = signal(0);

export const isLoaded = signal(false);

/** The dev server's error about the query; empty if there is none. */
export const queryProblem = signal("");

export const query = computed(() => readParam("q"));

/** Combines the requests of fast typing, or of many arrivals with a query. */
const SETTLE_MS = 120;

export function setQuery(text: string): void {
  setParams({ q: text });
}

let pending: AbortController | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;

export async function loadCaptures(): Promise<void> {
  pending?.abort();
  const abort = new AbortController();
  pending = abort;
  try {
    const problem = await loadMatches(query.value, abort.signal);
    if (abort.signal.aborted) return;
    queryProblem.value = problem;
    // The rows of the query before, or all, instead of none.
    if (problem !== "") await loadMatches(loadedQuery.value, abort.signal);
  } catch (error) {
    if (!abort.signal.aborted) reportProblem(error);
  } finally {
    if (pending === abort) pending = null;
  }
}

/** Shows what the query matches. Returns the dev server's error about the query, if there is one. */
async function loadMatches(asked: string, signal: AbortSignal): Promise<string> {
  try {
    const list = await listCaptures(asked, signal);
    if (signal.aborted) return "";
    captures.value = list.items;
    learnWorks(list.works);
    loadedQuery.value = asked;
    totalCaptures.value = list.total;
    isLoaded.value = true;
    return "";
  } catch (error) {
    const isAboutQuery = error instanceof PageApiError && error.status >= 400 && error.status < 500;
    if (!isAboutQuery || error.status === 401) throw error;
    return error.message;
  }
}

function learnWorks(listed: readonly EventView[]): void {
  const knownOf = ({ id }: EventView): EventView | undefined => knownWorks.value.get(eventIdOf(id));
  const works = listed.map((event) => withDetails(event, knownOf(event)));
  takeWork(works.filter((event) => JSON.stringify(knownOf(event)) !== JSON.stringify(event)));
}

/** The stream sends errors in full and steps too: a list without them has not changed. */
function withDetails(event: EventView, known: EventView | undefined): EventView {
  const before = (handler: string) => known?.handlers.find((work) => work.handler === handler);
  return { ...event, handlers: event.handlers.map((work) => ({ ...before(work.handler), ...work })) };
}

function loadSoon(): void {
  clearTimeout(timer);
  timer = setTimeout(() => void loadCaptures(), SETTLE_MS);
}

/** Loads again after a change of work, if the query asks for work. */
export function reloadByWork(): void {
  if (splitTerms(query.value).some((term) => term.startsWith(WORK_PREFIX))) loadSoon();
}

/** Loads again when the query changes. */
export function followQuery(): () => void {
  let isFirst = true;
  return effect(() => {
    void query.value;
    if (isFirst) void loadCaptures();
    else loadSoon();
    isFirst = false;
  });
}

/** Adds captures that are new, or have a new attempt or mark. */
export function takeCaptures(arrived: readonly CaptureSummary[]): void {
  // A list that is being loaded may be older than these, and would replace them.
  if (pending !== null) loadSoon();
  const latest = new Map(arrived.map((capture) => [capture.id, capture]));
  const known = new Set<string>();
  const updated = captures.value.map((capture) => {
    const next = latest.get(capture.id);
    if (next === undefined) return capture;
    known.add(capture.id);
    return next;
  });
  const added = [...latest.values()].filter(({ id }) => !known.has(id));
  if (query.value !== "") {
    // Whether a capture matches can depend on its body and headers, which only the dev server has.
    captures.value = updated;
    loadSoon();
    return;
  }
  captures.value = added.length === 0 ? updated : [...added.toSorted(byNewest), ...updated].toSorted(byNewest);
  totalCaptures.value += added.length;
  if (added.length > 0) announceArrival(added);
}

export function dropCaptures(ids: readonly string[]): void {
  const gone = new Set(ids);
  const before = captures.value.length;
  captures.value = captures.value.filter(({ id }) => !gone.has(id));
  totalCaptures.value = Math.max(captures.value.length, totalCaptures.value - (before - captures.value.length));
}

function byNewest(a: CaptureSummary, b: CaptureSummary): number {
  return a.receivedAt < b.receivedAt || (a.receivedAt === b.receivedAt && a.id < b.id) ? 1 : -1;
}

function announceArrival(added: readonly CaptureSummary[]): void {
  const [newest] = added.toSorted(byNewest);
  if (newest === undefined) return;
  const what = `${newest.type ?? "unreadable delivery"}, signature ${newest.verdict}`;
  announcement.value = added.length === 1 ? `New: ${what}` : `${added.length} new, the last: ${what}`;
}

/** The capture in the detail pane; empty if the pane is closed. */
export const openId = computed(() => readParam("open"));

/** The captures that are chosen for a common action. */
export const captureSelection = createSelection(() => captures.value.map(({ id }) => id));

export function openCapture(id: string): void {
  setParams({ open: id, attempt: "" });
}

export function closeDetail(): void {
  setParams({ open: "", tab: "", attempt: "" });
}
