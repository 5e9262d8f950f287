import type { ComponentChildren } from "preact";

/** The part of a view that scrolls and has its rows. */
export function ListRegion({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div class="dash-scroll dash-list" tabIndex={0} role="region" aria-label={label}>
      {children}
    </div>
  );
}
