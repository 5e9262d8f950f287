import type { EventDetail } from "#pigeonhole/store/inbox-view.js";

/** An event without a body, received and signed at that moment, whose work is as `parts` say. */
export function eventDetail(at: number, parts: Pick<EventDetail, "state" | "handlers">): EventDetail {
  return {
    id: "evt_1",
    type: "email.sent",
    test: false,
    receivedAt: at,
    signedAt: at,
    otherBytes: [],
    seq: 1,
    body: undefined,
    ...parts,
  };
}
