import type { CapturedBody } from "../../capture/model/capture.js";
import { decodeBody } from "../../capture/model/captured-body.js";
import { bodyAsText } from "../message/body-bytes.js";
import { formatCount } from "../ui/format.js";

/** Characters of the body that are shown; all of a large one would slow the page down. */
const SHOWN_BODY = 4_000;

/** What the signature was made over: the timestamp, a dot, and the raw body. */
export function SignedString({ timestamp, body }: { timestamp: string; body: CapturedBody }) {
  const text = bodyAsText(body);
  const more = text.length - SHOWN_BODY;
  const size = timestamp.length + 1 + decodeBody(body).length;
  return (
    <section aria-label="Signed string">
      <h3>Signed string</h3>
      <p class="hint">
        The timestamp, a dot, and the body exactly as received: {formatCount(size)} bytes. The key is the whole secret,
        including <code>whsec_</code>.
      </p>
      <pre class="text signed-string" tabIndex={0}>
        <span class="signed-part" title="Timestamp, as it stands in the header">
          {timestamp}
        </span>
        <mark class="signed-dot" title="Separator">
          .
        </mark>
        <span class="signed-part" title="Raw body">
          {text.slice(0, SHOWN_BODY)}
        </span>
        {more > 0 && <span class="hint"> … {formatCount(more)} more characters</span>}
      </pre>
    </section>
  );
}
