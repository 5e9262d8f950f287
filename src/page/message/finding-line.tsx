import type { ComponentChildren } from "preact";
import type { Finding } from "../state/diagnosis.js";
import { Icon } from "../ui/icon.js";
import { shortText } from "../ui/short-text.js";

const ICONS = { bad: "cross", warn: "warning", good: "check" } as const;

/** What is wrong, under a title, and the buttons for it. */
export function FindingLine({ found: { tone, text }, children }: { found: Finding; children: ComponentChildren }) {
  return (
    <div class={`remark diagnosis ${tone}`} role="status">
      <Icon name={ICONS[tone]} />
      <p>{shortText(text)}</p>
      {children}
    </div>
  );
}
