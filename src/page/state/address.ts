import { computed, signal } from "@preact/signals";

export const VIEWS = ["deliveries", "send", "inbox", "sandbox"] as const;

export type ViewName = (typeof VIEWS)[number];

/** The address after the hash: `#/deliveries?q=type:email.*&open=cap_1&tab=headers`. */
export interface PageAddress {
  view: ViewName;
  params: Readonly<Record<string, string>>;
}

function readAddress(): PageAddress {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const view = VIEWS.find((name) => name === path) ?? "deliveries";
  return { view, params: Object.fromEntries(new URLSearchParams(query)) };
}

function writeAddress({ view, params }: PageAddress): string {
  const query = new URLSearchParams(params).toString();
  return query === "" ? `#/${view}` : `#/${view}?${query}`;
}

const current = signal(readAddress());

export const view = computed(() => current.value.view);

/** One parameter of the view; empty if it is missing. */
export function readParam(name: string): string {
  return current.value.params[name] ?? "";
}

/** Goes to a view, leaving the present one in the browser's history. */
export function goTo(next: ViewName, params: Record<string, string> = {}): void {
  current.value = { view: next, params: withoutEmpty(params) };
  history.pushState(null, "", writeAddress(current.value));
}

/** Changes parameters of the present view; an empty one disappears. */
export function setParams(changes: Record<string, string>): void {
  const next = { view: current.value.view, params: withoutEmpty({ ...current.value.params, ...changes }) };
  if (writeAddress(next) === writeAddress(current.value)) return;
  current.value = next;
  history.replaceState(null, "", writeAddress(next));
}

function withoutEmpty(params: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== ""));
}

// The deliveries keep their query and open capture while another view is shown.
const kept = new Map<ViewName, Record<string, string>>();

/** Goes to a view with its last parameters. */
export function returnTo(next: ViewName): void {
  if (next === current.value.view) return;
  kept.set(current.value.view, { ...current.value.params });
  goTo(next, kept.get(next) ?? {});
}

window.addEventListener("popstate", () => (current.value = readAddress()));
