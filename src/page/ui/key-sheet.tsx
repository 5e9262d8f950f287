import type { ComponentChildren } from "preact";
import { isSheetOpen } from "../state/key-sheet.js";
import { CloseButton } from "./icon-button.js";
import { Dialog } from "./dialog.js";
import type { KeyCommand } from "./follow-keys.js";

const NAMES: Record<string, string> = {
  ArrowDown: "↓",
  ArrowUp: "↑",
  Escape: "Esc",
  Delete: "Del",
  PageDown: "PgDn",
  PageUp: "PgUp",
};

interface KeySheetOptions {
  /** In the order of the sheet. */
  groups: readonly string[];
  commands: readonly KeyCommand<string>[];
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
              .map((command) => (
                <SheetLine key={command.label} command={command} />
              ))}
          </section>
        ))}
      </div>
      {children}
    </Dialog>
  );
}

function SheetLine({ command: { keys, label } }: { command: KeyCommand<string> }) {
  const shown = keys.length > 3 ? [`${keys[0]} – ${keys.at(-1)}`] : keys;
  return (
    <p class="sheet-line">
      <span>{label}</span>
      <span class="sheet-keys">
        {shown.map((key) => (
          <kbd key={key}>{NAMES[key] ?? key}</kbd>
        ))}
      </span>
    </p>
  );
}
