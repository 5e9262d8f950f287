import type { CaptureAttempt } from "../../capture/model/capture.js";
import { StatusBadge } from "../ui/badges.js";
import { formatExactTime, formatMs, formatTime } from "../ui/format.js";
import { Icon } from "../ui/icon.js";
import { BodyView } from "./body-view.js";
import { HeaderTable } from "./header-table.js";

/** One attempt's answer: status, headers, body. */
export function AnswerView({ attempt }: { attempt: CaptureAttempt }) {
  return (
    <div class="answer-view">
      <p class="facts">
        <StatusBadge status={attempt.status} error={attempt.error} />
        <span class="fact">{formatMs(attempt.ms)}</span>
        <span class="fact" title={formatExactTime(attempt.at)}>
          {formatTime(attempt.at)}
        </span>
        <code class="fact">{attempt.target}</code>
      </p>
      {attempt.error !== null && (
        <p class="remark bad">
          <Icon name="warning" /> {attempt.error}
        </p>
      )}
      {attempt.body !== null && (
        <>
          <h3>Body</h3>
          <BodyView body={attempt.body} label="Answer body" />
        </>
      )}
      {attempt.headers.length > 0 && (
        <>
          <h3>Headers</h3>
          <HeaderTable headers={attempt.headers} label="Answer headers" />
        </>
      )}
      {attempt.sentBody !== null && (
        <>
          <h3>Body that was sent instead of the captured one</h3>
          <BodyView body={attempt.sentBody} label="Sent body" />
        </>
      )}
    </div>
  );
}
