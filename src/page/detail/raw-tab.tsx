import { useMemo, useState } from "preact/hooks";
import type { CapturedRequest } from "../../capture/model/capture.js";
import { copyText } from "../state/copy-or-save.js";
import { Segments } from "../ui/tabs.js";
import { Button } from "../ui/button.js";
import { decodeBody } from "../../capture/model/captured-body.js";
import { LongText } from "../message/long-text.js";
import { formatCount } from "../text/format.js";
import { bodyAsText, bytesAsHex } from "../message/body-view.js";

/** A longer dump would slow the page down. */
const HEX_LIMIT = 64 * 1024;

const SHOWN_AS = [
  { name: "text", label: "Text" },
  { name: "hex", label: "Hex" },
] as const;

/** The body as received, before parsing. */
export function RawTab({ request }: { request: CapturedRequest }) {
  const [shownAs, setShownAs] = useState<"text" | "hex">(request.body.encoding === "base64" ? "hex" : "text");
  const isHex = shownAs === "hex";
  const bytes = useMemo(() => decodeBody(request.body), [request.body]);
  const text = useMemo(
    () => (isHex ? bytesAsHex(bytes, HEX_LIMIT) : bodyAsText(request.body)),
    [bytes, isHex, request.body],
  );
  const query = request.query === "" ? "" : `?${request.query}`;
  return (
    <>
      <div class="raw-tools">
        <Segments label="Show as" choices={SHOWN_AS} current={shownAs} choose={setShownAs} />
        <code class="request-line">
          {request.method} {request.path}
          {query}
        </code>
        <span class="spring" />
        <Button icon="copy" label="Copy" class="small" run={() => copyText(bodyAsText(request.body), "the raw body")} />
      </div>
      <p class="hint">
        {formatCount(bytes.length)} bytes · {request.body.encoding === "utf8" ? "valid UTF-8" : "not valid UTF-8"} ·
        SHA-256 <code title={request.sha256}>{request.sha256.slice(0, 16)}…</code>
      </p>
      <LongText key={text} text={text} class={isHex ? "text hex" : "text"} />
    </>
  );
}
