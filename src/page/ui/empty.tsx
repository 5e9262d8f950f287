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
      <img src="./icon.svg" alt="" width="48" height="48" />
      <Heading>{title}</Heading>
      {children}
    </div>
  );
}
