import { answerHead } from "../../capture/model/answer.js";
import type { CaptureAttempt, HeaderList } from "../../capture/model/capture.js";
import { bodyAsText } from "../message/body-bytes.js";
import { listDifferences, readValue } from "./difference.js";
import { DifferenceTable } from "./difference-table.js";

/** Two answers side by side: only what differs. */
export function CompareAttempts({ before, after }: { before: CaptureAttempt; after: CaptureAttempt }) {
  const heads = [`Attempt ${before.n}`, `Attempt ${after.n}`] as const;
  return (
    <div class="compare">
      <DifferenceTable title="Answer" heads={heads} differences={listDifferences(outline(before), outline(after))} />
      <DifferenceTable title="Body" heads={heads} differences={listDifferences(bodyOf(before), bodyOf(after))} />
      <DifferenceTable
        title="Headers"
        heads={heads}
        differences={listDifferences(groupHeaders(before.headers), groupHeaders(after.headers))}
      />
    </div>
  );
}

function outline({ status, headers, error, mode, target, eventId }: CaptureAttempt) {
  return { ...answerHead({ status, headers }), error, mode, target, eventId };
}

function bodyOf({ body }: CaptureAttempt): unknown {
  return body === null ? null : readValue(bodyAsText(body));
}

/** Headers by name; repeated ones keep their order. */
export function groupHeaders(headers: HeaderList): Record<string, string> {
  const grouped = new Map<string, string>();
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    const earlier = grouped.get(key);
    grouped.set(key, earlier === undefined ? value : `${earlier}, ${value}`);
  }
  return Object.fromEntries(grouped);
}
