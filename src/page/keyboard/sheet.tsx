import { KeySheet } from "../ui/key-sheet.js";
import { KEY_COMMANDS, KEY_GROUPS } from "./commands.js";

/** All keys of the dev server's page. */
export function DevKeySheet() {
  return (
    <KeySheet groups={KEY_GROUPS} commands={KEY_COMMANDS}>
      <p class="hint">
        <kbd>Tab</kbd> goes from the list to the tabs of the open delivery and along them. With <kbd>Shift</kbd> or{" "}
        <kbd>Ctrl</kbd>, a click chooses rows.
      </p>
    </KeySheet>
  );
}
