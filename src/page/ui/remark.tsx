import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon.js";

const ICONS = { bad: "cross", warn: "warning", good: "check" } as const;

interface RemarkOptions {
  tone: keyof typeof ICONS;
  icon?: IconName;
  /** `status` or `alert` where it comes while one looks. */
  role?: "status" | "alert";
  /** One line, beside which the children are: the buttons for it. */
  text?: string;
  children?: ComponentChildren;
}

/** What is to know about what is shown, or what is wrong with it. */
export function Remark({ tone, icon = ICONS[tone], role, text, children }: RemarkOptions) {
  return (
    <div class={`remark ${tone}`} role={role}>
      <Icon name={icon} />
      <p>{text ?? children}</p>
      {text !== undefined && children}
    </div>
  );
}
