import type { CaptureDetail, SignatureCheck, SignatureReport } from "../../dev/api/page-api.js";
import { VerdictBadge } from "../ui/badges.js";
import { Icon } from "../ui/icon.js";
import { formatCount } from "../ui/format.js";
import { TrySecret } from "./try-secret.js";
import type { CapturedBody } from "../../capture/model/capture.js";
import { decodeBody } from "../../capture/model/captured-body.js";
import { bodyAsText } from "../message/body-bytes.js";

const RESULTS = {
  pass: { icon: "check", tone: "good", word: "passed" },
  fail: { icon: "cross", tone: "bad", word: "failed" },
  skipped: { icon: "minus", tone: "mute", word: "not reached" },
} as const;

/** The signature, check by check, what to change if one fails, and what was signed. */
export function SignatureTab({ value: { capture, signature } }: { value: CaptureDetail }) {
  const { secretRef, code } = capture.verify;
  return (
    <>
      <p class="signature-summary">
        <VerdictBadge verdict={code} /> <span>{signature.summary}</span>
      </p>
      <Findings report={signature} isFine={code === "ok"} />
      <ol class="checks">
        {signature.checks.map((check) => (
          <CheckRow key={check.name} check={check} />
        ))}
      </ol>
      {secretRef !== null && (
        <p class="hint">
          Secret that matched: <code>{secretRef}</code>
        </p>
      )}
      {signature.timestamp !== null && <SignedString timestamp={signature.timestamp} body={capture.request.body} />}
      <TrySecret id={capture.id} />
    </>
  );
}

function Findings({ report, isFine }: { report: SignatureReport; isFine: boolean }) {
  return (
    <>
      {report.findings.map(({ code, message, fix }) => (
        <div class={isFine ? "finding" : "finding bad"} key={code}>
          {!report.summary.includes(message) && <p>{message}</p>}
          <p class="fix">
            <b>Fix</b> {fix}
          </p>
          <code class="hint">{code}</code>
        </div>
      ))}
    </>
  );
}

function CheckRow({ check: { name, result, detail } }: { check: SignatureCheck }) {
  const { icon, tone, word } = RESULTS[result];
  return (
    <li class={`check ${tone}`}>
      <Icon name={icon} />
      <span class="check-name">{name}</span>
      <span class="unseen">{word}</span>
      <span class="check-detail">{detail}</span>
    </li>
  );
}

/** Characters of the body that are shown; all of a large one would slow the page down. */
const SHOWN_BODY = 4_000;

/** What the signature was made over: the timestamp, a dot, and the raw body. */
function SignedString({ timestamp, body }: { timestamp: string; body: CapturedBody }) {
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
        <span title="Timestamp, as it stands in the header">{timestamp}</span>
        <mark class="signed-dot" title="Separator">
          .
        </mark>
        <span title="Raw body">{text.slice(0, SHOWN_BODY)}</span>
        {more > 0 && <span class="hint"> … {formatCount(more)} more characters</span>}
      </pre>
    </section>
  );
}
