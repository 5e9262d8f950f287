import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { CloseButton } from "./button.js";
import { Dialog } from "./dialog.js";
import type { KeyCommand } from "./follow-keys.js";

export const isSheetOpen = signal(false);

const NAMES: Record<string, string> = {
  ArrowDown: "↓",
  ArrowUp: "↑",
  Escape: "Esc",
  Delete: "Del",
};

interface KeySheetOptions {
  /** In the order of the sheet. */
  groups: readonly string[];
  commands: readonly KeyCommand[];
  /** What else is to know, below. */
  children?: ComponentChildren;
}

/** All keys, grouped by purpose. */
export function KeySheet({ groups, commands, children }: KeySheetOptions) {
  if (!isSheetOpen.value) return null;
  const close = () => (isSheetOpen.value = false);
  return (
    <Dialog label="Keys" class="sheet" onClose={close}>
      <header class="drawer-head">
        <h2>Keys</h2>
        <span class="spring" />
        <CloseButton onClick={close} />
      </header>
      <div class="sheet-columns">
        {groups.map((group) => (
          <section key={group}>
            <h3>{group}</h3>
            {commands
              .filter((command) => command.group === group)
              .map(({ keys, label }) => (
                <p class="sheet-line" key={label}>
                  <span>{label}</span>
                  <span class="sheet-keys">
                    {(keys.length > 3 ? [`${keys[0]} – ${keys.at(-1)}`] : keys).map((key) => (
                      <kbd key={key}>{NAMES[key] ?? key}</kbd>
                    ))}
                  </span>
                </p>
              ))}
          </section>
        ))}
      </div>
      {children}
    </Dialog>
  );
}
