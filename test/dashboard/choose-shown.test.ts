import { chooseShown } from "#pigeonhole/dashboard/choose-shown.js";
import type { InboxOperator } from "#pigeonhole/store/inbox-operator.js";
import { expect, test } from "vitest";

/** An inbox without an end, each page of which takes some time. */
function endless(): Pick<InboxOperator, "listEvents"> {
  let page = 0;
  return {
    async listEvents() {
      await new Promise((resolve) => setTimeout(resolve, 10));
      page += 1;
      return { items: [], cursors: [], nextCursor: String(page) };
    },
  };
}

test("a choice by the text of errors among too many events is refused soon", async () => {
  const job = { action: "retry", choice: { error: "closed" } } as const;
  const startedAt = performance.now();
  await expect(chooseShown(endless(), job, { rule: "redacted", patienceMs: 50 })).rejects.toMatchObject({
    code: "too_many_events",
  });
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});
