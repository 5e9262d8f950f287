import { escapeControls } from "../../base/text.js";

/** The type of a delivery. Its group, such as `email.`, has a line of its own in a narrow list. */
export function TypeName({ type }: { type: string | null }) {
  if (type === null) return <em>unreadable</em>;
  const end = type.indexOf(".") + 1;
  return (
    <>
      <span class="type-group">{escapeControls(type.slice(0, end))}</span>
      {escapeControls(type.slice(end))}
    </>
  );
}
