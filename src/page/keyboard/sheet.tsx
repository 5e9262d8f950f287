import { Dialog } from "../ui/dialog.js";
import { CloseButton } from "../ui/close-button.js";
import { KEY_COMMANDS, type KeyCommand } from "./commands.js";
import { isSheetOpen } from "../state/key-sheet.js";

const GROUPS = ["Move", "Act", "Inbox", "Go"] as const;

const NAMES: Record<string, string> = {
  ArrowDown: "↓",
  ArrowUp: "↑",
  Escape: "Esc",
  Delete: "Del",
  PageDown: "PgDn",
  PageUp: "PgUp",
};

/** All keys, grouped by purpose. */
export function KeySheet() {
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
        {GROUPS.map((group) => (
          <section key={group}>
            <h3>{group}</h3>
            {KEY_COMMANDS.filter((command) => command.group === group).map((command) => (
              <SheetLine key={command.label} command={command} />
            ))}
          </section>
        ))}
      </div>
      <p class="hint">
        <kbd>Tab</kbd> goes from the list to the tabs of the open delivery and along them. With <kbd>Shift</kbd> or{" "}
        <kbd>Ctrl</kbd>, a click chooses rows.
      </p>
    </Dialog>
  );
}

function SheetLine({ command: { keys, label } }: { command: KeyCommand }) {
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
