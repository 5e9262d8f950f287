import type { ComponentChildren } from "preact";

interface PanelOptions {
  title: string;
  /** Leads to all of it. */
  link?: string;
  class?: string;
  children: ComponentChildren;
}

/** A part of a view, with its title in a frame. */
export function Panel({ title, link, class: look = "", children }: PanelOptions) {
  return (
    <section class={`panel ${look}`} aria-label={title}>
      <h2>{link === undefined ? title : <a href={link}>{title}</a>}</h2>
      {children}
    </section>
  );
}
