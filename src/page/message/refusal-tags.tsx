import { escapeControls } from "../../base/text.js";
import type { ContactEventRow } from "../../operator/inbox-rows.js";

/** The service's error code for a contact event, and the parameter that it names. */
export function RefusalTags({ event: { code, param } }: { event: Pick<ContactEventRow, "code" | "param"> }) {
  return (
    <>
      {[code, param].map((text) =>
        text === null || text === "" ? null : (
          <code class="tag" key={text}>
            {escapeControls(text)}
          </code>
        ),
      )}
    </>
  );
}
