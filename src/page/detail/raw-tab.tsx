import { useMemo, useState } from "preact/hooks";
import type { CapturedRequest } from "../../capture/model/capture.js";
import { copyText } from "../state/copy-text.js";
import { Icon } from "../ui/icon.js";
import { formatCount } from "../ui/format.js";
import { decodeBody } from "../../capture/model/captured-body.js";
import { LongText } from "../message/long-text.js";
import { bodyAsText, bytesAsHex } from "../message/body-bytes.js";

/** A longer dump would slow the page down. */
const HEX_LIMIT = 64 * 1024;

/** The body as received, before parsing. */
export function RawTab({ request }: { request: CapturedRequest }) {
  const [isHex, setHex] = useState(request.body.encoding === "base64");
  const bytes = useMemo(() => decodeBody(request.body), [request.body]);
  const text = useMemo(
    () => (isHex ? bytesAsHex(bytes, HEX_LIMIT) : bodyAsText(request.body)),
    [bytes, isHex, request.body],
  );
  const query = request.query === "" ? "" : `?${request.query}`;
  return (
    <>
      <div class="raw-tools">
        <div class="segments" role="group" aria-label="Show as">
          <button type="button" aria-pressed={!isHex} onClick={() => setHex(false)}>
            Text
          </button>
          <button type="button" aria-pressed={isHex} onClick={() => setHex(true)}>
            Hex
          </button>
        </div>
        <code class="request-line">
          {request.method} {request.path}
          {query}
        </code>
        <span class="spring" />
        <button
          type="button"
          class="button small"
          onClick={() => void copyText(bodyAsText(request.body), "the raw body")}
        >
          <Icon name="copy" /> Copy
        </button>
      </div>
      <p class="hint">
        {formatCount(bytes.length)} bytes · {request.body.encoding === "utf8" ? "valid UTF-8" : "not valid UTF-8"} ·
        SHA-256 <code title={request.sha256}>{request.sha256.slice(0, 16)}…</code>
      </p>
      <LongText key={text} text={text} class={isHex ? "text hex" : "text"} />
    </>
  );
}
