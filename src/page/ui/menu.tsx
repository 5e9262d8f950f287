import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";

export interface MenuItem {
  label: string;
  /** What it does, in a few words. */
  hint?: string;
  run: () => void;
}

interface MenuOptions {
  /** Read by screen readers, and shown if there is no other label. */
  label: string;
  items: readonly MenuItem[];
  class?: string;
  children: ComponentChildren;
}

/** A button that opens a list of commands: arrows move, Enter runs, Esc and a click elsewhere close. */
export function Menu({ label, items, class: className = "button", children }: MenuOptions) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  return (
    <div class="menu">
      <button type="button" class={className} aria-label={label} title={label} aria-haspopup="menu" popovertarget={id}>
        {children}
      </button>
      <div
        ref={list}
        id={id}
        popover="auto"
        class="menu-items"
        role="menu"
        aria-label={label}
        onKeyDown={(event) => onKey(event, event.currentTarget)}
      >
        {items.map((item, index) => (
          <button
            key={item.label}
            type="button"
            // The popover gives it the focus as it opens.
            autofocus={index === 0}
            role="menuitem"
            class="menu-item"
            onClick={() => {
              list.current?.hidePopover();
              item.run();
            }}
          >
            <span>{item.label}</span>
            {item.hint !== undefined && <span class="hint">{item.hint}</span>}
          </button>
        ))}
      </div>
    </div>
  );
}

/** Its keys are not those of the page: arrows move the focus among its commands, Tab closes it. */
function onKey(event: KeyboardEvent, list: HTMLElement): void {
  event.stopPropagation();
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === "Tab") list.hidePopover();
  if (step === undefined) return;
  event.preventDefault();
  const all = [...list.querySelectorAll("button")];
  const index = all.findIndex((item) => item === document.activeElement);
  all[(index + step + all.length) % all.length]?.focus();
}
