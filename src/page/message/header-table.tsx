import { escapeControls } from "../../base/text.js";
import type { HeaderList } from "../../capture/model/capture.js";
import { copyText } from "../state/copy-or-save.js";
import { DataTable, type TableColumn } from "../ui/data-table.js";
import { IconButton } from "../ui/button.js";

/** Headers in their received order and case. */
export function HeaderTable({ headers, label }: { headers: HeaderList; label: string }) {
  if (headers.length === 0) return <p class="nothing">No headers.</p>;
  return <DataTable label={label} columns={COLUMNS} rows={headers} keyOf={(row) => String(headers.indexOf(row))} />;
}

const COLUMNS: readonly TableColumn<HeaderList[number]>[] = [
  // Those that decide how a delivery is received stand out.
  {
    title: "Name",
    isName: true,
    class: "plain",
    cell: ([name]) => (
      <code class={/^x-(svc|pigeonhole)-/i.test(name) ? "json-name marked" : "json-name"}>{escapeControls(name)}</code>
    ),
  },
  { title: "Value", class: "plain long", cell: ([, value]) => <code>{escapeControls(value)}</code> },
  {
    title: "",
    class: "number",
    cell: ([name, value]) => (
      <IconButton icon="copy" label={`Copy ${name}`} onClick={() => void copyText(value, name)} />
    ),
  },
];
