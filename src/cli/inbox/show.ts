import { bodyOf, foundEvent } from "../../store/inbox-view.js";
import type { RunCommand } from "../frame/context.js";
import { withInbox } from "../values/find-inbox.js";
import { describeEvent } from "./describe-event.js";
import { readEventLife } from "./event-life.js";
import { detailRecord } from "./event-record.js";
import type * as specs from "./spec.js";

/** Shows one event with all that the database knows of it, or the bytes of its body. */
export const showInboxEvent: RunCommand<typeof specs.inboxShow> = ({ args, options, context }) =>
  withInbox(options.db, context, async (inbox) => {
    const { out } = context;
    const event = foundEvent(await inbox.getEvent(args.id), args.id, inbox.database);
    if (options.body) {
      out.raw(bodyOf(event));
      return;
    }
    const body = event.body === undefined ? null : Buffer.from(event.body).toString("utf8");
    const life = await readEventLife(inbox, event);
    out.result({ event: { ...detailRecord(life), body } }, describeEvent(life, body, out.paint));
  });
