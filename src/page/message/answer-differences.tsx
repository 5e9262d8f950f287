import { escapeControls } from "../../base/text.js";
import { compareJson } from "../../capture/json/compare-json.js";
import { answerHead } from "../../capture/model/answer.js";
import type { CaptureAttempt, CapturedBody, HeaderList } from "../../capture/model/capture.js";
import { DataTable, type TableColumn } from "../ui/data-table.js";
import { plural } from "../text/format.js";
import { bodyAsText } from "./body-view.js";

/** One place where two answers differ; JSON texts, null where there is none. */
interface Difference {
  path: string;
  before: string | null;
  after: string | null;
}

/** What an answer has that the one before it had not. */
export function AnswerDifferences({ before, after }: Record<"before" | "after", CaptureAttempt>) {
  const found = compareJson(outline(before), outline(after)).map((each) => ({
    path: each.path.replace(/^\$\.?/, ""),
    before: each.kind === "added" ? null : write(each.before),
    after: each.kind === "removed" ? null : write(each.after),
  }));
  if (found.length === 0) return <p class="hint">As the answer to attempt {before.n}.</p>;
  const column = (title: string, part: "before" | "after"): TableColumn<Difference> => ({
    title,
    class: `long ${part}`,
    cell: (each) => escapeControls(each[part] ?? "–"),
  });
  return (
    <details class="differences" open={found.length <= 12}>
      <summary>
        {plural(found.length, "difference")} from the answer to attempt {before.n}
      </summary>
      <DataTable
        label="Differences"
        columns={[
          { title: "Where", isName: true, class: "plain long", cell: ({ path }) => escapeControls(path) },
          column(`Attempt ${before.n}`, "before"),
          column(`Attempt ${after.n}`, "after"),
        ]}
        rows={found}
        keyOf={({ path }) => path}
      />
    </details>
  );
}

const write = (value: unknown): string => JSON.stringify(value) ?? "undefined";

function outline({ status, headers, error, mode, target, eventId, body }: CaptureAttempt) {
  const header = headersByName(headers);
  return { ...answerHead({ status, headers }), error, mode, target, eventId, body: valueOf(body), header };
}

/** The JSON value if the text is JSON, otherwise the text. */
function valueOf(body: CapturedBody | null): unknown {
  if (body === null) return null;
  const text = bodyAsText(body);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Repeated ones keep their order. */
function headersByName(headers: HeaderList): Record<string, string> {
  const grouped: Record<string, string> = {};
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    grouped[key] = grouped[key] === undefined ? value : `${grouped[key]}, ${value}`;
  }
  return grouped;
}
