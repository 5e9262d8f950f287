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
