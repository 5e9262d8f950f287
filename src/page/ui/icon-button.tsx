import { Icon, type IconName } from "./icon.js";

interface IconButtonOptions {
  icon: IconName;
  /** Read by screen readers. */
  label: string;
  /** More, for the pointer. @default the label */
  title?: string;
  /** Of a button that switches something on. */
  isOn?: boolean;
  onClick: () => void;
}

/** A button without words. */
export function IconButton({ icon, label, title = label, isOn, onClick }: IconButtonOptions) {
  return (
    <button
      type="button"
      class={isOn === true ? "icon-button on" : "icon-button"}
      aria-label={label}
      aria-pressed={isOn}
      title={title}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}

/** Closes a pane or a drawer, as Esc does. */
export function CloseButton({ onClick }: { onClick: () => void }) {
  return <IconButton icon="cross" label="Close" title="Close (Esc)" onClick={onClick} />;
}
