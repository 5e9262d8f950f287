import type { ComponentChildren } from "preact";

/** Shown for an empty list: what is missing, and how to get it. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <svg class="empty-art" viewBox="0 0 64 64" width="64" height="64" aria-hidden="true">
        <rect x="6" y="6" width="52" height="52" rx="12" />
        <rect x="15" y="15" width="14" height="14" rx="3" />
        <rect x="35" y="15" width="14" height="14" rx="3" class="filled" />
        <rect x="15" y="35" width="14" height="14" rx="3" />
        <rect x="35" y="35" width="14" height="14" rx="3" />
      </svg>
      <h2>{title}</h2>
      {children}
    </div>
  );
}
