import type { ComponentChildren } from "preact";

interface EmptyOptions {
  title: string;
  /** True where nothing else of the view is shown, so that this is its heading. */
  isView?: boolean;
  children?: ComponentChildren;
}

/** Shown for an empty list or view: what is missing, and how to get it. */
export function Empty({ title, isView = false, children }: EmptyOptions) {
  const Heading = isView ? "h1" : "h2";
  return (
    <div class="empty">
      <svg class="empty-art" viewBox="0 0 64 64" width="64" height="64" aria-hidden="true">
        <rect x="6" y="6" width="52" height="52" rx="12" />
        <rect x="15" y="15" width="14" height="14" rx="3" />
        <rect x="35" y="15" width="14" height="14" rx="3" class="filled" />
        <rect x="15" y="35" width="14" height="14" rx="3" />
        <rect x="35" y="35" width="14" height="14" rx="3" />
      </svg>
      <Heading>{title}</Heading>
      {children}
    </div>
  );
}
