import { Time } from "../ui/time.js";
import type { CaptureSummary } from "../../capture/model/capture.js";
import type { CaptureDetail } from "../../dev/api/page-api.js";
import { captureHandle } from "../../capture/model/capture-handle.js";
import { closeDetail, openId } from "../state/captures.js";
import { StatusBadge, VerdictBadge, WorkBadge, verdictOf } from "../ui/badges.js";
import { replayWorkOf, workOf } from "../state/work.js";
import { CloseButton, Button } from "../ui/button.js";
import { CopyFact } from "../ui/copy-button.js";
import { Icon } from "../ui/icon.js";
import { Remark } from "../ui/remark.js";
import { Tabs } from "../ui/tabs.js";
import { ActionBar } from "./action-bar.js";
import { AnswerTab, AttemptsTab } from "./attempts-tab.js";
import { BodyView } from "../message/body-view.js";
import { type DetailTab, detail, detailProblem, detailTab, loadDetail, showTab } from "../state/detail.js";
import { HandlersTab } from "./handlers-tab.js";
import { HeaderTable } from "../message/header-table.js";
import { RawTab } from "./raw-tab.js";
import { SignatureTab } from "./signature-tab.js";
import { useSandbox } from "../state/sandbox.js";
import { DiagnosisLine } from "./diagnosis-line.js";
import { AdvanceButton, AttemptDots } from "./attempt-dots.js";
import { formatBytes, formatMs, plural } from "../text/format.js";

/** Everything about the open capture. */
export function DetailPane() {
  const value = detail.value;
  if (detailProblem.value !== "") return <NoDetail why={detailProblem.value} />;
  if (value === null) return <section class="detail" aria-label="Delivery" aria-busy="true" />;
  const { capture, summary, signature } = value;
  const failed = signature.checks.filter(({ result }) => result === "fail").length;
  const tabs: { name: DetailTab; label: string; note?: string }[] = [
    { name: "payload", label: "Payload" },
    { name: "headers", label: "Headers", note: String(capture.request.headers.length) },
    { name: "raw", label: "Raw" },
    { name: "answer", label: "Answer", ...(summary.status === null ? {} : { note: String(summary.status) }) },
    { name: "handlers", label: "Handlers", ...handlersNote(summary) },
    { name: "attempts", label: "Attempts", note: String(capture.attempts.length) },
    { name: "signature", label: "Signature", note: failed === 0 ? "✓" : "✗" },
  ];
  return (
    <section class="detail" aria-label="Delivery" aria-busy={capture.id !== openId.value}>
      <header class="detail-head">
        <div class="detail-title">
          <h2>{capture.event.type ?? "Unreadable delivery"}</h2>
          <VerdictBadge verdict={verdictOf(summary)} />
          <StatusBadge answer={summary} error={summary.error} />
          <WorkBadge work={workOf(summary)} replay={replayWorkOf(summary)} />
          <span class="spring" />
          <CloseButton onClick={closeDetail} />
        </div>
        <DiagnosisLine value={value} />
        <Facts value={value} />
        {capture.id.startsWith("inbox:") ? (
          <p class="hint">Only the inbox has this event: no delivery of it is kept here.</p>
        ) : (
          <ActionBar capture={capture} />
        )}
        <Tabs label="Parts of the delivery" tabs={tabs} current={detailTab.value} onChange={showTab} />
      </header>
      {/* Has the focus so that the keyboard scrolls it: a text has nothing else to focus. */}
      <div class="detail-body" role="tabpanel" tabIndex={0} aria-label={detailTab.value} key={detailTab.value}>
        <TabBody value={value} tab={detailTab.value} />
      </div>
    </section>
  );
}

/** A sign beside the tab where something is wrong with the work. */
function handlersNote(summary: CaptureSummary): { note?: string } {
  const state = workOf(summary)?.state;
  return state === "dead" ? { note: "✗" } : state === "parked" ? { note: "!" } : {};
}

/** Shown instead of the earlier delivery, since the buttons and keys no longer act on that one. */
function NoDetail({ why }: { why: string }) {
  return (
    <section class="detail" aria-label="Delivery">
      <div class="detail-body">
        <Remark tone="bad" role="alert">
          This delivery could not be read. {why}
        </Remark>
        <div class="actions">
          <Button icon="replay" label="Try again" run={() => loadDetail()} />
          <Button label="Close" run={closeDetail} />
        </div>
      </div>
    </section>
  );
}

function Facts({ value: { capture, summary } }: { value: CaptureDetail }) {
  const eventId = capture.event.id;
  const handle = captureHandle(capture.id);
  return (
    <p class="facts">
      <CopyFact text={handle} what="the capture's short name, which the commands take: pigeonhole replay …" />
      {eventId !== null && <CopyFact text={eventId} what="the event's id" />}
      <Time at={capture.receivedAt} class="fact" />
      <span class="fact">{formatBytes(summary.size)}</span>
      {summary.ms !== null && <span class="fact">{formatMs(summary.ms)}</span>}
      <span class="fact">{capture.source}</span>
      {capture.pinned && (
        <span class="fact">
          <Icon name="pin" /> pinned
        </span>
      )}
      {capture.redaction !== null && <span class="fact">redacted: {capture.redaction}</span>}
      {capture.tags.map((tag) => (
        <span class="tag" key={tag}>
          {tag}
        </span>
      ))}
      {capture.note !== "" && <span class="fact note">{capture.note}</span>}
    </p>
  );
}

function TabBody({ value, tab }: { value: CaptureDetail; tab: DetailTab }) {
  const { capture } = value;
  switch (tab) {
    case "payload":
      return <BodyView body={capture.request.body} label="Payload" canSearch isEvent />;
    case "headers":
      return <HeaderTable headers={capture.request.headers} label="Request headers" />;
    case "raw":
      return <RawTab request={capture.request} />;
    case "answer":
      return <AnswerTab capture={capture} />;
    case "handlers":
      return <HandlersTab key={capture.id} capture={capture} />;
    case "attempts":
      return (
        <>
          <RetryTimes value={value} />
          <AttemptsTab key={capture.id} capture={capture} />
        </>
      );
    case "signature":
      return <SignatureTab value={value} />;
  }
}

/**
 * The service's attempts at the event on one line: past ones solid, coming ones hollow. Nothing for a single one that
 * was taken. Of an event of the sandbox, by the sandbox's clock.
 */
function RetryTimes({ value: { capture, retryLine } }: { value: CaptureDetail }) {
  const eventId = capture.event.id ?? "";
  const emulated = useSandbox()?.deliveries.find((each) => each.eventId === eventId);
  const past = emulated?.attempts ?? retryLine.past;
  const coming = emulated?.coming.map(({ at }) => at) ?? retryLine.coming;
  const notComing = emulated === undefined ? retryLine.notComing : 0;
  if (past.length + coming.length + notComing < 2) return null;
  return (
    <section class="retry-times" aria-label="Attempts of the service">
      <p class="hint">{describeLine({ past: past.length, coming: coming.length, notComing })}</p>
      <AttemptDots past={past} coming={coming} openId={capture.id} />
      {emulated !== undefined && coming.length > 0 && <AdvanceButton eventId={eventId} />}
    </section>
  );
}

function describeLine({ past, coming, notComing }: { past: number; coming: number; notComing: number }): string {
  const before = `${plural(past, "attempt")} of the service so far.`;
  if (notComing > 0) {
    return `${before} Nothing sends it again, since it was sent by hand or imported. The service would, up to ${plural(notComing, "more time")}.`;
  }
  if (coming === 0) return `${before} After the last answer the service does not send it again.`;
  return `${before} After the last answer the service sends it up to ${plural(coming, "more time")}, each wait 10 % longer or shorter.`;
}
