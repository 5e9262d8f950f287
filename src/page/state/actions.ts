import { describeAnswer, whyNotRun } from "../../capture/model/answer.js";
import { judgeShown, shownAnswer } from "../../capture/model/answer-advice.js";
import type { ExportBody, MarkBody, ReplayBody, PageReplayReport } from "../../dev/api/page-api.js";
import { requestExport, markCapture, removeCaptures, requestReplay, requestCurl, writeFixture } from "../api/calls.js";
import { confirmed } from "./confirmed.js";
import { copyText, saveFile } from "./copy-or-save.js";
import { captures, dropCaptures, takeCaptures, captureSelection, closeDetail, openId } from "./captures.js";
import { loadDetail } from "./detail.js";
import { runAction, showNotice, type SentAnswer, reportAnswers } from "./notice.js";
import { setParams, view } from "./address.js";

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
  reportAnswers(attempts.length === 1 ? "Replayed" : `Replayed ${attempts.length}`, attempts.map(readAnswer));
}

function readAnswer({
  attempt: { status, headers, error },
  changed,
}: PageReplayReport["attempts"][number]): SentAnswer {
  const shown = shownAnswer({ status, headers });
  const why = shown.notReceived ? "an HTML page: no receiver took it" : whyNotRun(shown, "replay");
  const answer = status === null ? (error ?? "no answer") : describeAnswer(shown);
  const change = changed === null ? undefined : changed ? "another answer than before" : "the same answer as before";
  const words = [answer, change, why].filter((part) => part !== undefined).join(" · ");
  return { words, tone: judgeShown(shown, "replay") };
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
