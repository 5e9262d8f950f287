/** The entries that a page makes in the browser's history. */
export interface PageHistory {
  push: (url: string) => void;
  /** Changes the address of the present entry. */
  replace: (url: string) => void;
  /** Has to be called with each `popstate`: after a step in the history, or to another fragment. */
  note: () => void;
  /** Goes back to the entry before, if that is of the page; else returns false. */
  goBack: () => boolean;
}

/** Kept with each entry: how many of the page are before it. Each load of the page knows them by that. */
interface EntryState {
  entriesBefore: number;
}

/** The first entry of a page that was opened by a link has none of the page before it. */
export function followHistory(): PageHistory {
  let before = readState()?.entriesBefore ?? 0;
  let isGoingBack = false;
  let present = "";
  const keep = (change: "pushState" | "replaceState", url?: string): void => {
    const state: EntryState = { entriesBefore: before };
    history[change](state, "", url);
    present = location.href;
  };
  keep("replaceState");
  return {
    push(url) {
      isGoingBack = false;
      before += 1;
      keep("pushState", url);
    },
    replace: (url) => keep("replaceState", url),
    note() {
      isGoingBack = false;
      const known = readState();
      // A link of the page has made an entry, unless it led to where the page was.
      before = known?.entriesBefore ?? before + (location.href === present ? 0 : 1);
      keep("replaceState");
    },
    goBack() {
      if (before === 0) return false;
      // A second key before the first step is done would take two.
      if (!isGoingBack) history.back();
      isGoingBack = true;
      return true;
    },
  };
}

function readState(): EntryState | undefined {
  const state: unknown = history.state;
  if (typeof state !== "object" || state === null || !("entriesBefore" in state)) return undefined;
  const { entriesBefore } = state;
  return typeof entriesBefore === "number" ? { entriesBefore } : undefined;
}
