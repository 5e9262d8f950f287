import type { ComponentProps } from "preact";
import type { JobAction } from "../../store/bulk-jobs.js";
import { Button } from "./button.js";
import type { IconName } from "./icon.js";

const ACTIONS: Record<JobAction, { word: string; icon: IconName; look?: string; title?: string }> = {
  retry: { word: "Retry", icon: "replay", look: "primary" },
  run: { word: "Run now", icon: "clock", title: "Without waiting for the next run; attempts stay" },
  discard: { word: "Discard", icon: "trash", look: "danger" },
};

interface ActionButtonOptions extends Omit<ComponentProps<typeof Button>, "icon"> {
  action: JobAction;
  /** After its word, such as `(3)`. */
  of?: string;
}

/** A button that changes work or contact events. */
export function ActionButton({ action, of, ...rest }: ActionButtonOptions) {
  const { word, icon, look, title } = ACTIONS[action];
  const label = of === undefined ? word : `${word} ${of}`;
  return <Button icon={icon} label={label} {...(look && { class: look })} {...(title && { title })} {...rest} />;
}

interface CountedActionOptions<Row> extends Pick<ActionButtonOptions, "action" | "class"> {
  /** The chosen rows that it can change. */
  rows: readonly Row[];
  run: (rows: readonly Row[]) => unknown;
}

/** A button that changes those of the chosen rows that it can change, with their number; nothing without one. */
export function CountedAction<Row>({ rows, run, ...rest }: CountedActionOptions<Row>) {
  return rows.length > 0 && <ActionButton of={`(${rows.length})`} run={() => run(rows)} {...rest} />;
}
