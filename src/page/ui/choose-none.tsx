import { Icon } from "./icon.js";

/** The last button of a selection bar. */
export function ChooseNone({ onClick }: { onClick: () => void }) {
  return (
    <button type="button" class="icon-button" aria-label="Choose none" title="Choose none (Esc)" onClick={onClick}>
      <Icon name="cross" />
    </button>
  );
}
