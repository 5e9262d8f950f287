import { useEffect } from "preact/hooks";
import { shortText } from "../ui/short-text.js";
import { readParam, view, type DashboardView } from "../state/dashboard-address.js";
import { returnToRow } from "./row-cursor.js";

const TITLES: Record<DashboardView, string> = {
  overview: "Overview",
  errors: "Errors",
  work: "Work",
  event: "Event",
  outbox: "Outbox",
};

/** Names the view in the title of the page, and gives its list the focus again on the way back. */
export function usePagePlace(): void {
  const current = view.value;
  const subject = { event: "id", outbox: "key", work: "groupName", overview: "handler", errors: "handler" }[current];
  const name = readParam(subject);
  useEffect(() => {
    document.title = `${TITLES[current]}${name === "" ? "" : ` ${shortText(name)}`} · pigeonhole dashboard`;
  }, [current, name]);
  useEffect(returnToRow, [current, readParam("key")]);
}
