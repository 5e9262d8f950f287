import type { ComponentProps } from "preact";
import { Icon, type IconName } from "./icon.js";

interface ButtonOptions extends Omit<ComponentProps<"button">, "class" | "icon" | "label"> {
  icon?: IconName | undefined;
  /** Its words; what more belongs to them are the children. */
  label?: string;
  /** Its looks, of `primary`, `danger`, `small` and `wide`. */
  class?: string;
  /** What a click does; it may take its time. */
  run?: () => unknown;
}

/** A button with words, and an icon before them. */
export function Button({ icon, label, class: look = "", run, children, ...rest }: ButtonOptions) {
  return (
    <button type="button" class={`button ${look}`} onClick={() => void run?.()} {...rest}>
      {icon !== undefined && <Icon name={icon} />}
      {label}
      {children}
    </button>
  );
}

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
