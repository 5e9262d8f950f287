import { computed, signal, type ReadonlySignal } from "@preact/signals";

/** The address after the hash: `#/deliveries?q=type:email.*&open=cap_1&tab=headers`. */
interface PageAddress<View extends string> {
  view: View;
  params: Readonly<Record<string, string>>;
}

/** Where the page is, and how it goes elsewhere. */
export interface Address<View extends string> {
  view: ReadonlySignal<View>;
  /** One parameter of the view; empty if it is missing. */
  readParam: (name: string) => string;
  /** Goes to a view, leaving the present one in the browser's history. */
  goTo: (next: View, params?: Record<string, string>) => void;
  /** Goes to a view with its last parameters. */
  returnTo: (next: View) => void;
  /** Changes parameters of the present view; an empty one disappears. */
  setParams: (changes: Record<string, string>) => void;
  /** Goes back in the browser's history; does nothing and returns false where that would leave the page. */
  goBack: () => boolean;
  /** The part of a link that leads to a view: `#/send`. */
  linkTo: (next: View, params?: Record<string, string>) => string;
}

/** The address of a page with these views; an address that names none is that of the first. */
export function createAddress<View extends string>(views: readonly [View, ...View[]]): Address<View> {
  const readAddress = (): PageAddress<View> => {
    const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
    return {
      view: views.find((name) => name === path) ?? views[0],
      params: Object.fromEntries(new URLSearchParams(query)),
    };
  };
  const current = signal(readAddress());
  // Each view keeps its parameters while another one is shown.
  const kept = new Map<View, Record<string, string>>();

  let isLeaving = false;

  const goTo = (next: View, params: Record<string, string> = {}): void => {
    current.value = { view: next, params: withoutEmpty(params) };
    isLeaving = false;
    history.pushState(null, "", writeAddress(current.value));
  };

  window.addEventListener("popstate", () => {
    isLeaving = false;
    current.value = readAddress();
  });
  return {
    view: computed(() => current.value.view),
    readParam: (name) => current.value.params[name] ?? "",
    goTo,
    returnTo(next) {
      if (next === current.value.view) return;
      kept.set(current.value.view, { ...current.value.params });
      goTo(next, kept.get(next) ?? {});
    },
    setParams(changes) {
      const next = { view: current.value.view, params: withoutEmpty({ ...current.value.params, ...changes }) };
      if (writeAddress(next) === writeAddress(current.value)) return;
      current.value = next;
      history.replaceState(null, "", writeAddress(next));
    },
    goBack() {
      if (!isOfPage(entryBefore())) return false;
      // A second key before the first step is done would take two.
      if (!isLeaving) history.back();
      isLeaving = true;
      return true;
    },
    linkTo: (next, params = {}) => writeAddress({ view: next, params: withoutEmpty(params) }),
  };
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

const isOfPage = (url: string | null | undefined): boolean =>
  typeof url === "string" && url.split("#", 1)[0] === location.href.split("#", 1)[0];

function writeAddress({ view, params }: PageAddress<string>): string {
  const query = new URLSearchParams(params).toString();
  return query === "" ? `#/${view}` : `#/${view}?${query}`;
}

function withoutEmpty(params: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== ""));
}
