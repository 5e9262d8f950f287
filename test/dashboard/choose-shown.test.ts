import { chooseShown } from "#pigeonhole/dashboard/choose-shown.js";
import { LoopShare } from "#pigeonhole/dashboard/loop-share.js";
import { PersonalData } from "#pigeonhole/dashboard/personal-data.js";
import { QuoteHider } from "#pigeonhole/dashboard/quote-hider.js";
import type { InboxOperator } from "#pigeonhole/store/inbox-operator.js";
import { expect, test } from "vitest";

/** An inbox without an end, each page of which takes some time. */
function endless(): Pick<InboxOperator, "listEvents" | "readBodies"> {
  let page = 0;
  return {
    async listEvents() {
      await new Promise((resolve) => setTimeout(resolve, 10));
      page += 1;
      return { items: [], cursors: [], nextCursor: String(page) };
    },
    readBodies: () => Promise.resolve(new Map()),
  };
}

test("a choice by the text of errors among too many events is refused soon", async () => {
  const inbox = endless();
  const personal = new PersonalData(Buffer.alloc(32));
  const tools = { operator: () => inbox, personal, quotes: new QuoteHider(personal, new LoopShare()) };
  const { signal } = new AbortController();
  const job = { action: "retry", choice: { error: "closed" } } as const;
  const startedAt = performance.now();
  await expect(chooseShown(tools, job, { rule: "redacted", signal, patienceMs: 50 })).rejects.toMatchObject({
    code: "too_many_events",
  });
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});
