import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";

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
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);

  useLayoutEffect(() => {
    if (!isOpen) return;
    const list = root.current?.querySelector<HTMLElement>("[role=menu]");
    if (list instanceof HTMLElement) list.style.translate = `${wayIntoWindow(list.getBoundingClientRect())}px`;
    list?.querySelector<HTMLElement>("[role=menuitem]")?.focus();
    const closeOutside = (event: Event) => {
      if (event.target instanceof Node && root.current?.contains(event.target) !== true) setOpen(false);
    };
    document.addEventListener("pointerdown", closeOutside);
    return () => document.removeEventListener("pointerdown", closeOutside);
  }, [isOpen]);

  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  const move = (step: number) => {
    const all = [...(root.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
    const index = all.findIndex((item) => item === document.activeElement);
    all[(index + step + all.length) % all.length]?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!isOpen) return;
    event.stopPropagation();
    if (event.key === "Escape" || event.key === "Tab") close();
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      move(event.key === "ArrowDown" ? 1 : -1);
    }
  };

  return (
    <div class="menu" ref={root} onKeyDown={onKeyDown}>
      <button
        ref={button}
        type="button"
        class={className}
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {children}
      </button>
      {isOpen && <Items id={id} label={label} items={items} onTake={close} />}
    </div>
  );
}

function Items({
  id,
  label,
  items,
  onTake,
}: { id: string; onTake: () => void } & Pick<MenuOptions, "label" | "items">) {
  return (
    <div class="menu-items" id={id} role="menu" aria-label={label}>
      {items.map((item) => (
        <button
          key={item.label}
          type="button"
          role="menuitem"
          class="menu-item"
          onClick={() => {
            onTake();
            item.run();
          }}
        >
          <span>{item.label}</span>
          {item.hint !== undefined && <span class="hint">{item.hint}</span>}
        </button>
      ))}
    </div>
  );
}

/** Between a menu and the sides of the window, in pixels. */
const MARGIN = 8;

/** How far to the right a box has to move so that neither of its sides is cut off, in pixels. */
function wayIntoWindow({ left, right }: DOMRect): number {
  return Math.max(MARGIN - left, Math.min(0, document.documentElement.clientWidth - MARGIN - right));
}
