import { Icon } from "./icon.js";

/** Closes a pane or a drawer, as Esc does. */
export function CloseButton({ onClick }: { onClick: () => void }) {
  return (
    <button type="button" class="icon-button" aria-label="Close" title="Close (Esc)" onClick={onClick}>
      <Icon name="cross" />
    </button>
  );
}
