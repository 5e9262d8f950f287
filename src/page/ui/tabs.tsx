import { useLayoutEffect, useRef } from "preact/hooks";

export interface Tab<Name extends string> {
  name: Name;
  label: string;
  /** A number or a symbol beside the label. */
  note?: string;
}

interface TabsOptions<Name extends string> {
  label: string;
  tabs: readonly Tab<Name>[];
  current: Name;
  onChange: (name: Name) => void;
}

/**
 * A row of tabs. Arrows and Tab move through it. Tab leaves it after the last one, so that the focus is not trapped.
 */
export function Tabs<Name extends string>({ label, tabs, current, onChange }: TabsOptions<Name>) {
  const root = useRef<HTMLDivElement>(null);
  // In a narrow pane the row scrolls.
  useLayoutEffect(() => {
    root.current?.querySelector(`[data-tab="${current}"]`)?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [current]);
  const step = (by: number): boolean => {
    const next = tabs[tabs.findIndex(({ name }) => name === current) + by];
    if (next === undefined) return false;
    onChange(next.name);
    root.current?.querySelector<HTMLElement>(`[data-tab="${next.name}"]`)?.focus();
    return true;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1, Tab: event.shiftKey ? -1 : 1 }[event.key];
    if (by !== undefined && step(by)) event.preventDefault();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} ref={root} onKeyDown={onKeyDown}>
      {tabs.map(({ name, label: text, note }) => (
        <button
          key={name}
          type="button"
          role="tab"
          class="tab"
          data-tab={name}
          aria-selected={name === current}
          tabIndex={name === current ? 0 : -1}
          onClick={() => onChange(name)}
        >
          {text}
          {note !== undefined && <span class="tab-note">{note}</span>}
        </button>
      ))}
    </div>
  );
}

interface SegmentsOptions<Name extends string> {
  label: string;
  choices: readonly { name: Name; label: string }[];
  current: Name;
  choose: (name: Name) => void;
}

/** One of a few, all of which are in sight. */
export function Segments<Name extends string>({ label, choices, current, choose }: SegmentsOptions<Name>) {
  return (
    <div class="segments" role="group" aria-label={label}>
      {choices.map(({ name, label: word }) => (
        <button key={name} type="button" aria-pressed={name === current} onClick={() => choose(name)}>
          {word}
        </button>
      ))}
    </div>
  );
}
