import { escapeControls } from "../../base/text.js";
import type { HeaderList } from "../../capture/model/capture.js";
import { copyText } from "../state/copy-text.js";
import { IconButton } from "../ui/icon-button.js";

/** Headers in their received order and case. */
export function HeaderTable({ headers, label }: { headers: HeaderList; label: string }) {
  if (headers.length === 0) return <p class="nothing">No headers.</p>;
  return (
    <table class="headers" aria-label={label}>
      <tbody>
        {headers.map(([name, value], index) => (
          <tr key={index} class={isOurs(name) ? "marked" : ""}>
            <th scope="row">{escapeControls(name)}</th>
            <td>{escapeControls(value)}</td>
            <td class="copy-cell">
              <IconButton icon="copy" label={`Copy ${name}`} onClick={() => void copyText(value, name)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Headers that decide how a delivery is received. */
function isOurs(name: string): boolean {
  return /^x-(svc|pigeonhole)-/i.test(name);
}
