import type { ComponentChildren } from "preact";
import type { ExportBody } from "../../dev/api/page-api.js";
import { exportAs } from "../state/actions.js";
import { Menu } from "../ui/menu.js";

const CHOICES: readonly { as: ExportBody["as"]; label: string; hint: string }[] = [
  { as: "json", label: "JSON", hint: "a fixture to keep in the repository" },
  { as: "ndjson", label: "NDJSON", hint: "one capture per line" },
  { as: "curl", label: "cURL", hint: "a shell script, signed again" },
];

interface ExportMenuOptions {
  ids: string[];
  class: string;
  children: ComponentChildren;
}

/** Saves captures in one of several formats. */
export function ExportMenu({ ids, class: look, children }: ExportMenuOptions) {
  const items = CHOICES.map(({ as, label, hint }) => ({ label, hint, run: () => void exportAs(ids, as) }));
  return (
    <Menu label="Export" class={look} items={items}>
      {children}
    </Menu>
  );
}
