import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { trySecret } from "../api/calls.js";
import { runAction } from "../state/notice.js";
import { Button } from "../ui/button.js";
import { Form } from "../ui/form.js";
import { Remark } from "../ui/remark.js";
import type { CaptureDetail, SignatureCheck, SignatureReport } from "../../dev/api/page-api.js";
import { Badge, VerdictBadge } from "../ui/badges.js";
import { DataTable, type TableColumn } from "../ui/data-table.js";
import type { CapturedBody } from "../../capture/model/capture.js";
import { decodeBody } from "../../capture/model/captured-body.js";
import { formatCount } from "../text/format.js";
import { bodyAsText } from "../message/body-view.js";

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
      <p>
        <VerdictBadge verdict={code} /> <span>{signature.summary}</span>
      </p>
      <Findings report={signature} isFine={code === "ok"} />
      <DataTable label="Checks" columns={CHECK_COLUMNS} rows={signature.checks} keyOf={({ name }) => name} />
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
        <Remark tone={isFine ? "good" : "bad"} key={code}>
          {!report.summary.includes(message) && `${message} `}
          <span class="fix">
            <b>Fix</b> {fix}
          </span>{" "}
          <code class="hint">{code}</code>
        </Remark>
      ))}
    </>
  );
}

const CHECK_COLUMNS: readonly TableColumn<SignatureCheck>[] = [
  { title: "Result", class: "plain", cell: ({ result }) => <Badge {...RESULTS[result]} /> },
  { title: "Check", isName: true, class: "plain", cell: ({ name }) => <b>{name}</b> },
  { title: "Found", class: "plain long", cell: ({ detail }) => detail },
];

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

/** The typed secret, for the next delivery too: in the memory of this page only. */
const typed = signal("");

/** Checks the signature with a secret that the dev server does not know. */
function TrySecret({ id }: { id: string }) {
  const [report, setReport] = useState<SignatureReport | null>(null);
  useEffect(() => setReport(null), [id]);
  const check = () => runAction(async () => setReport(await trySecret(id, typed.value)));
  const isMatch = report?.checks.some(({ name, result }) => name === "Secret and bytes" && result === "pass") === true;
  return (
    <Form class="try-secret" label="Try another secret" run={check}>
      <h3>Try another secret</h3>
      <div class="try-row">
        <input
          type="password"
          aria-label="Secret to try"
          autocomplete="off"
          spellcheck={false}
          placeholder="whsec_…"
          value={typed.value}
          onInput={(event) => {
            typed.value = event.currentTarget.value;
            setReport(null);
          }}
        />
        <Button label="Check" type="submit" disabled={typed.value.trim() === ""} />
      </div>
      <p class="hint">Sent to this dev server only, and stored nowhere: it is gone when the page is closed.</p>
      {report !== null && (
        <Remark tone={isMatch ? "good" : "bad"} role="status">
          {isMatch ? "This secret made the signature, over exactly these bytes." : report.summary}
        </Remark>
      )}
    </Form>
  );
}
