import { effect, signal } from "@preact/signals";
import type { CaptureSummary } from "../../capture/model/capture.js";

/** Ids of the deliveries that have arrived since the page was last in sight. */
const unseen = signal<ReadonlySet<string>>(new Set());

let hiddenSince = Number.POSITIVE_INFINITY;

/** Counts the deliveries that arrived while the page was out of sight; a changed older one is not new. */
export function countArrivals(arrived: readonly CaptureSummary[]): void {
  const added = arrived.filter(({ receivedAt }) => Date.parse(receivedAt) >= hiddenSince);
  if (added.length > 0) unseen.value = new Set([...unseen.value, ...added.map(({ id }) => id)]);
}

/** Shows in the title of the tab how many deliveries are new. */
export function followTitle(): void {
  const title = document.title;
  effect(() => {
    const { size } = unseen.value;
    document.title = size === 0 ? title : `(${size}) ${title}`;
  });
  const look = () => {
    hiddenSince = document.hidden ? Date.now() : Number.POSITIVE_INFINITY;
    if (!document.hidden) unseen.value = new Set();
  };
  document.addEventListener("visibilitychange", look);
  look();
}
