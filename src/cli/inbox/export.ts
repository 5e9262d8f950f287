import type { Capture } from "../../capture/model/capture.js";
import { exportCaptures } from "../../capture/export/export-captures.js";
import { fromInbox } from "../../capture/model/from-inbox.js";
import { createRedactor } from "../../capture/redact/redactor.js";
import type { RunCommand } from "../frame/context.js";
import type { inboxExport } from "./spec.js";
import { allRows } from "../values/all-rows.js";
import { withInbox } from "../values/find-inbox.js";
import { countOf } from "../frame/format.js";
import { writeOutput } from "../values/output-file.js";

/** Writes events of a receiver as captures, with personal data replaced by default. */
export const exportInbox: RunCommand<typeof inboxExport> = ({ options, context }) =>
  withInbox(options.db, context, async (inbox) => {
    const { since, state, type, limit, redact, out } = options;
    const filter = { state, type };
    const oldest = since === undefined ? 0 : Date.now() - since;
    const captures: Capture[] = [];
    let dropped = 0;
    for await (const { id, receivedAt } of allRows(limit, (page) => inbox.listEvents({ ...filter, ...page }))) {
      // Newest first, so the rest is older too.
      if (receivedAt < oldest) break;
      const event = await inbox.getEvent(id);
      if (event?.body === undefined) dropped += 1;
      else captures.push(fromInbox({ ...event, body: event.body }));
    }
    if (dropped > 0)
      context.out.note(`${countOf(dropped, "event")} left out: the body was dropped by retention or erased.`);
    const shown = redact === "none" ? captures : captures.map(createRedactor({ profile: redact }));
    const { text } = exportCaptures(shown.toReversed(), { as: "ndjson" });
    await writeOutput(text, out, countOf(shown.length, "event"), context);
  });
