import { DEFAULT_EVENT_TYPES, EVENT_TYPES } from "../../protocol/event-types.js";
import { useEffect, useState } from "preact/hooks";
import { SIGNATURE_VARIANTS, type SignatureVariant } from "../../dev/api/page-api.js";
import { readSample, sendEvent } from "../api/calls.js";
import { JsonEditor } from "../edit/json-editor.js";
import { onSendKey } from "../ui/form.js";
import { runAction, type SentAnswer, reportAnswers } from "../state/notice.js";
import { readParam, setParams, goTo } from "../state/address.js";
import { Button } from "../ui/button.js";
import { escapeControls } from "../../base/text.js";
import { captures } from "../state/captures.js";
import { workOf } from "../state/work.js";
import { describeAnswer } from "../../capture/model/answer.js";
import { judgeShown } from "../../capture/model/answer-advice.js";
import type { CaptureSummary } from "../../capture/model/capture.js";
import { formatTime, plural } from "../text/format.js";
import { StatusBadge, VerdictBadge, WorkBadge } from "../ui/badges.js";

/** Most deliveries of one event per click. */
const MAX_TIMES = 50;

/** Most deliveries in the list of what was sent. */
const SHOWN = 20;

/** Sends a signed sample event, optionally signed wrongly. */
export function SendView() {
  const type = readParam("type") || EVENT_TYPES[0];
  const { body, setBody, loadSample } = useEventBody(type);
  const [sign, setSign] = useState<SignatureVariant>("valid");
  const [times, setTimes] = useState(1);
  const [isSending, setSending] = useState(false);

  const send = async () => {
    if (body === null || isSending) return;
    setSending(true);
    await runAction(async () => {
      reportSent((await sendEvent({ body: body.text, sign, times })).captures, sign);
    });
    setSending(false);
  };

  return (
    <div class="send" onKeyDown={onSendKey(() => void send())}>
      <TypeList current={type} onChange={(name) => setParams({ type: name })} />
      <section class="send-body" aria-label="Event">
        <header class="pane-head">
          <h1>{type}</h1>
          <span class="spring" />
          <Button icon="replay" label="New sample" class="small" run={() => loadSample()} />
        </header>
        {body !== null && (
          <JsonEditor
            label="Envelope of the event"
            text={body.text}
            resets={body.resets}
            onChange={(text) => setBody({ ...body, text })}
            onSubmit={() => void send()}
          />
        )}
      </section>
      <section class="send-options" aria-label="Signature and sending">
        <SignatureChoice chosen={sign} onChoose={setSign} />
        <Times times={times} setTimes={setTimes} />
        <Button icon="send" class="primary wide" disabled={body === null || isSending} run={() => send()}>
          {isSending ? "Sending…" : times === 1 ? "Send" : `Send ${times} times`}
          <kbd>Ctrl Enter</kbd>
        </Button>
        <SentList />
      </section>
    </div>
  );
}

/** The envelope that is edited, at first a sample of the type. */
function useEventBody(type: string) {
  const [body, setBody] = useState<{ text: string; resets: number } | null>(null);
  const loadSample = () =>
    runAction(async () => {
      const { body: text } = await readSample(type);
      setBody((before) => ({ text, resets: (before?.resets ?? 0) + 1 }));
    });
  useEffect(() => void loadSample(), [type]);
  return { body, setBody, loadSample };
}

const isDefault = (name: string): boolean => (DEFAULT_EVENT_TYPES as readonly string[]).includes(name);

/** The event types, grouped by the word before the dot. */
function TypeList({ current, onChange }: { current: string; onChange: (name: string) => void }) {
  const [filter, setFilter] = useState("");
  const shown = EVENT_TYPES.filter((name) => name.includes(filter.trim().toLowerCase()));
  const groups = new Set(shown.map((name) => name.slice(0, name.indexOf("."))));
  return (
    <nav class="types" aria-label="Event types">
      <input
        type="search"
        class="types-filter"
        placeholder={`Filter ${EVENT_TYPES.length} types`}
        aria-label="Filter event types"
        value={filter}
        onInput={(event) => setFilter(event.currentTarget.value)}
      />
      <div class="types-list">
        {[...groups].map((group) => (
          <section key={group}>
            <h2>{group}</h2>
            {shown
              .filter((name) => name.startsWith(`${group}.`))
              .map((name) => (
                <button
                  key={name}
                  type="button"
                  class="type-item"
                  aria-current={name === current}
                  title={isDefault(name) ? name : `${name}: sent only to an endpoint that names it`}
                  onClick={() => onChange(name)}
                >
                  {name}
                  {!isDefault(name) && <span class="type-note">named only</span>}
                </button>
              ))}
          </section>
        ))}
        {shown.length === 0 && <p class="nothing">No type matches.</p>}
      </div>
    </nav>
  );
}

interface SignatureChoiceOptions {
  chosen: SignatureVariant;
  onChoose: (variant: SignatureVariant) => void;
}

function SignatureChoice({ chosen, onChoose }: SignatureChoiceOptions) {
  return (
    <fieldset class="variants">
      <legend>Signature</legend>
      {SIGNATURE_VARIANTS.map((variant) => (
        <label key={variant} class={variant === chosen ? "variant chosen" : "variant"}>
          <input
            type="radio"
            name="sign"
            value={variant}
            checked={variant === chosen}
            onChange={() => onChoose(variant)}
          />
          <span>
            <b>{VARIANTS[variant].label}</b>
            <span class="hint">{VARIANTS[variant].meaning}</span>
          </span>
        </label>
      ))}
      <p class="hint expected">
        A pigeonhole receiver answers <b>{VARIANTS[chosen].expected ?? "503, or 401 with unverified: reject"}</b>.
      </p>
    </fieldset>
  );
}

function Times({ times, setTimes }: { times: number; setTimes: (times: number) => void }) {
  return (
    <>
      <label class="times">
        Deliveries of this event
        <input
          type="number"
          min={1}
          max={MAX_TIMES}
          value={times}
          onInput={(event) => {
            const value = event.currentTarget.valueAsNumber;
            setTimes(Number.isInteger(value) ? Math.min(MAX_TIMES, Math.max(1, value)) : 1);
          }}
        />
      </label>
      {times > 1 && <p class="hint">All have the same event id: a receiver must handle it once.</p>}
    </>
  );
}

/** What each choice sends, and what a receiver should answer. */
const VARIANTS: Record<SignatureVariant, { label: string; meaning: string; expected?: string }> = {
  valid: { label: "Valid", meaning: "Signed now with the first secret.", expected: "200" },
  stale: { label: "Stale", meaning: "Genuine, but signed longer ago than the tolerance." },
  "wrong-secret": { label: "Wrong secret", meaning: "Signed with an unknown random secret." },
  tampered: { label: "Tampered", meaning: "The body is changed after it was signed." },
  missing: { label: "Missing", meaning: "No signature header at all.", expected: "401" },
};

/** Says how the app answered what was sent. Of a delivery that is signed wrongly no answer is a fault by itself. */
function reportSent(captures: readonly CaptureSummary[], sign: SignatureVariant): void {
  const answers = captures
    .map(readAnswer)
    .map(({ words, tone }) => ({ words, tone: sign === "valid" ? tone : ("plain" as const) }));
  const open = () => goTo("deliveries", { open: captures[0]?.id ?? "" });
  reportAnswers(`Sent ${plural(captures.length, "delivery", "deliveries")}`, answers, { label: "Open", run: open });
}

function readAnswer(capture: CaptureSummary): SentAnswer {
  if (capture.status === null && capture.error === null) return { words: "kept, not forwarded", tone: "good" };
  const words = capture.notReceived ? `${capture.status} with an HTML page, of no receiver` : describeAnswer(capture);
  return { words, tone: judgeShown(capture) };
}

/** What was sent from this view or with `pigeonhole trigger`, with the answers. */
function SentList() {
  const rows = captures.value.filter(({ source }) => source === "trigger").slice(0, SHOWN);
  if (rows.length === 0) return null;
  return (
    <section class="sent" aria-label="Sent before">
      <h2>Sent before</h2>
      {rows.map((capture) => (
        <button
          type="button"
          class="sent-row"
          key={capture.id}
          title={`Open the delivery of ${formatTime(capture.receivedAt)}`}
          onClick={() => goTo("deliveries", { open: capture.id })}
        >
          <VerdictBadge verdict={capture.verdict} />
          <span class="sent-type">{escapeControls(capture.type ?? "")}</span>
          <StatusBadge answer={capture} error={capture.error} />
          <WorkBadge work={workOf(capture)} />
        </button>
      ))}
    </section>
  );
}
