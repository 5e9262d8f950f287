import { escapeControls } from "../../base/text.js";
import type { CallInFront } from "../../web/api/contact-events.js";
import { formatExactTime, formatTime } from "../ui/format.js";
import { linkTo } from "../state/address.js";
import { shortText } from "../ui/short-text.js";

/** Why a contact event waits, in one line. */
export const describeWait = ({ error }: CallInFront): string => `waits behind a call that fails: ${error}`;

/** Why a contact event waits, with the call in front; nothing where it only waits for its turn. */
export function WaitsBehind({ call }: { call: CallInFront | null }) {
  if (call === null) return null;
  const { key, name, error, dueAt } = call;
  return (
    <p class="waits-behind">
      It waits behind the call of <a href={linkTo("outbox", { key })}>{shortText(name)}</a>, which fails:{" "}
      {escapeControls(error)}
      {dueAt !== null && <span title={formatExactTime(dueAt)}>. Next try {formatTime(dueAt)}</span>}
    </p>
  );
}
