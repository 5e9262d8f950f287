import { describeAnswer, judgeAnswer, whyNotRun } from "../../capture/model/answer.js";
import { judgeShown, shownAnswer } from "../../capture/model/answer-advice.js";
import type { ExportBody, MarkBody, ReplayBody, PageReplayReport } from "../../dev/api/page-api.js";
import { requestExport, markCapture, removeCaptures, requestReplay, requestCurl, writeFixture } from "../api/calls.js";
import { confirmed } from "./confirmed.js";
import { copyText } from "./copy-text.js";
import { saveFile } from "./save-file.js";
import { captures, dropCaptures, takeCaptures } from "./captures.js";
import { loadDetail } from "./detail.js";
import { runAction, showNotice } from "./notice.js";
import { setParams, view } from "./address.js";
import { captureSelection, closeDetail, openId } from "./capture-selection.js";

/** Replays, and then updates the open capture first. Null if it failed, which was shown. */
export async function replay(body: ReplayBody): Promise<PageReplayReport | null> {
  let report: PageReplayReport | null = null;
  await runAction(async () => {
    report = await requestReplay(body);
    reportReplay(report);
    const ofOpen = report.attempts.findLast(({ captureId }) => captureId === openId.value);
    if (ofOpen === undefined || view.value !== "deliveries") return;
    await loadDetail();
    setParams({ tab: "attempts", attempt: String(ofOpen.attempt.n) });
  });
  return report;
}

function reportReplay({ attempts }: PageReplayReport): void {
  const [only] = attempts;
  if (only !== undefined && attempts.length === 1) {
    reportOne(only);
    return;
  }
  const answers = attempts.map((each) => shownAnswer(each.attempt));
  const good = answers.filter(({ status }) => isGood(status)).length;
  const parts = [
    [answers.filter(({ outcome }) => outcome === "duplicate"), "not run, since the receiver has them"],
    [answers.filter(({ outcome }) => outcome === "parked"), "parked"],
    [answers.filter(({ notReceived }) => notReceived), "not received: an HTML page"],
    [attempts.filter(({ changed }) => changed === true), "not as before"],
  ] as const;
  const hasWarning = answers.some((answer) => judgeShown(answer, "replay") === "warn");
  showNotice({
    tone: good < attempts.length ? "bad" : hasWarning ? "warn" : "good",
    text: [
      `Replayed ${attempts.length}: ${good} answered 2xx`,
      ...parts.flatMap(([found, what]) => (found.length === 0 ? [] : [`${found.length} ${what}`])),
    ].join(" · "),
  });
}

function reportOne({ attempt: { status, headers, ms, error }, changed }: PageReplayReport["attempts"][number]): void {
  const shown = shownAnswer({ status, headers });
  const answer = status === null ? (error ?? "No answer") : `${describeAnswer(shown)} in ${Math.round(ms)} ms`;
  const change = changed === null ? "" : changed ? " · not as before" : " · as before";
  const why = shown.notReceived ? "An HTML page: no receiver took it" : whyNotRun(shown, "replay");
  const text = why === undefined ? `Replayed: ${answer}${change}` : `${why} · ${answer}`;
  showNotice({ tone: judgeShown(shown, "replay"), text });
}

export function isGood(status: number | null): boolean {
  return judgeAnswer({ status, outcome: null }) === "good";
}

export function copyCurl(id: string): Promise<boolean> {
  return runAction(async () => {
    const { command } = await requestCurl(id, "resign");
    await copyText(command, "cURL command, signed again");
  });
}

export function togglePin(ids: readonly string[]): Promise<boolean> {
  return runAction(async () => {
    const pinned = !captures.value.filter(({ id }) => ids.includes(id)).every((capture) => capture.pinned);
    takeCaptures(await Promise.all(ids.map((id) => markCapture(id, { pinned }))));
    await loadDetail();
    showNotice({ tone: "plain", text: pinned ? "Pinned: kept until you unpin it" : "Unpinned" });
  });
}

/** Sets tags and note; false if that failed, which was shown. */
export function label(id: string, mark: Pick<MarkBody, "tags" | "note">): Promise<boolean> {
  return runAction(async () => {
    takeCaptures([await markCapture(id, mark)]);
    await loadDetail();
    showNotice({ tone: "plain", text: "Tags and note saved" });
  });
}

/** Saves what the dev server has made, and says what else is to know. */
function save(make: () => Promise<{ name: string; mediaType: string; text: string }>, rest = ""): Promise<boolean> {
  return runAction(async () => {
    const file = await make();
    saveFile(file);
    showNotice({ tone: "good", text: `Saved ${file.name}${rest}` });
  });
}

export const exportAs = (ids: string[], as: ExportBody["as"]) => save(() => requestExport({ ids, as }));

/** Saves what others may see: personal data, signatures and answers are removed. */
export const share = (ids: string[]) =>
  save(() => requestExport({ ids, as: "json", redacted: true }), ". Check it before you share it.");

export const saveFixture = (id: string, body: string) =>
  save(() => writeFixture(id, body), ": keep it in fixtures/webhooks");

export function remove(ids: string[]): Promise<boolean> {
  return runAction(async () => {
    const what = ids.length === 1 ? "this capture" : `${ids.length} captures`;
    if (!(await confirmed({ title: `Delete ${what}?`, text: "The file is removed from disk.", verb: "Delete" })))
      return;
    await removeCaptures(ids);
    dropCaptures(ids);
    if (ids.includes(openId.value)) closeDetail();
    captureSelection.clear();
    showNotice({ tone: "plain", text: `Deleted ${what}` });
  });
}
