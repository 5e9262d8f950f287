import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { SignatureReport } from "../../dev/api/page-api.js";
import { trySecret } from "../api/calls.js";
import { runAction } from "../state/notice.js";
import { Icon } from "../ui/icon.js";

/** The typed secret, for the next delivery too: in the memory of this page only. */
const typed = signal("");

/** Checks the signature with a secret that the dev server does not know. */
export function TrySecret({ id }: { id: string }) {
  const [report, setReport] = useState<SignatureReport | null>(null);
  useEffect(() => setReport(null), [id]);
  const check = () => runAction(async () => setReport(await trySecret(id, typed.value)));
  const isMatch = report?.checks.some(({ name, result }) => name === "Secret and bytes" && result === "pass") === true;
  return (
    <form
      class="try-secret"
      aria-label="Try another secret"
      onSubmit={(event) => {
        event.preventDefault();
        void check();
      }}
    >
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
        <button type="submit" class="button" disabled={typed.value.trim() === ""}>
          Check
        </button>
      </div>
      <p class="hint">Sent to this dev server only, and stored nowhere: it is gone when the page is closed.</p>
      {report !== null && (
        <p class={isMatch ? "remark good" : "remark bad"} role="status">
          <Icon name={isMatch ? "check" : "cross"} />{" "}
          {isMatch ? "This secret made the signature, over exactly these bytes." : report.summary}
        </p>
      )}
    </form>
  );
}
