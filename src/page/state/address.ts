import { computed, signal } from "@preact/signals";
import { eventIdOf } from "../../protocol/inbox-id.js";
import { DAY, HOUR } from "../../base/duration.js";
import { face } from "../api/face.js";

const VIEWS = {
  dev: ["deliveries", "send", "outbox", "sandbox"],
  dashboard: ["overview", "errors", "work", "event", "outbox"],
} as const;

/** `event` is one event, which links lead to; the others are in the navigation of their face. */
export type ViewName = (typeof VIEWS)["dev" | "dashboard"][number];

type Params = Readonly<Record<string, string>>;

/** The address after the hash: `#/deliveries?q=type:email.*&open=cap_1&tab=headers`. */
interface PageAddress {
  view: ViewName;
  params: Params;
}

const current = signal(readAddress());

/** Each view keeps its parameters while another one is shown. */
const kept = new Map<ViewName, Params>();

let isLeaving = false;

window.addEventListener("popstate", () => {
  isLeaving = false;
  current.value = readAddress();
});

export const view = computed(() => current.value.view);

/** One parameter of the view; empty if it is missing. */
export const readParam = (name: string): string => current.value.params[name] ?? "";

/** Goes to a view, leaving the present one in the browser's history. */
export function goTo(next: ViewName, params: Params = {}): void {
  current.value = { view: next, params: withoutEmpty(params) };
  isLeaving = false;
  history.pushState(null, "", writeAddress(current.value));
}

/** Goes to a view with its last parameters. */
export function returnTo(next: ViewName): void {
  const { view: before, params } = current.value;
  if (next === before) return;
  kept.set(before, params);
  goTo(next, kept.get(next));
}

/** Changes parameters of the present view; an empty one disappears. */
export function setParams(changes: Params): void {
  const next = { view: current.value.view, params: withoutEmpty({ ...current.value.params, ...changes }) };
  if (writeAddress(next) === writeAddress(current.value)) return;
  current.value = next;
  history.replaceState(null, "", writeAddress(next));
}

/** Goes back in the browser's history; does nothing and returns false where that would leave the page. */
export function goBack(): boolean {
  const [before, here] = [entryBefore(), location.href].map((url) => url?.split("#", 1)[0]);
  if (before !== here) return false;
  // A second key before the first step is done would take two.
  if (!isLeaving) history.back();
  isLeaving = true;
  return true;
}

/** The part of a link that leads to a view: `#/send`. */
export function linkTo(next: ViewName, params: Params = {}): string {
  return writeAddress({ view: next, params: withoutEmpty(params) });
}

/** The link to an event of the inbox. */
export const linkToEvent = (id: string): string =>
  face === "dev" ? linkTo("deliveries", { q: `id:"${eventIdOf(id)}"` }) : linkTo("event", { id });

/** An address that names no view is that of the first. */
function readAddress(): PageAddress {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const views: readonly ViewName[] = VIEWS[face];
  return {
    view: views.find((name) => name === path) ?? VIEWS[face][0],
    params: Object.fromEntries(new URLSearchParams(query)),
  };
}

function writeAddress({ view, params }: PageAddress): string {
  const query = new URLSearchParams(params).toString();
  return query === "" ? `#/${view}` : `#/${view}?${query}`;
}

function withoutEmpty(params: Params): Params {
  return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== ""));
}

/** What the page asks of the browser's navigation, which the types of the DOM do not have yet. */
interface BrowserNavigation {
  currentEntry: { index: number } | null;
  entries(): readonly { url: string | null }[];
}

/** The address before the present one in the browser's history, as far as it is of this origin. */
function entryBefore(): string | null | undefined {
  const { navigation } = globalThis as { navigation?: BrowserNavigation };
  return navigation?.entries()[(navigation.currentEntry?.index ?? 0) - 1]?.url;
}

/** Choices of time for lists: how far they look back. */
export const TIME_SPANS: ReadonlyMap<string, { label: string; ms: number }> = new Map([
  ["1h", { label: "Last hour", ms: HOUR }],
  ["24h", { label: "Last 24 hours", ms: DAY }],
  ["7d", { label: "Last 7 days", ms: 7 * DAY }],
]);

export const SPAN_WORDS: ReadonlyMap<string, string> = new Map(
  [...TIME_SPANS].map(([name, { label }]) => [name, label]),
);

/** Start of the span that ends now, ISO 8601; empty for any time, and for a name that is none. */
export function sinceOf(name: string): string {
  const span = TIME_SPANS.get(name);
  return span === undefined ? "" : new Date(Date.now() - span.ms).toISOString();
}
