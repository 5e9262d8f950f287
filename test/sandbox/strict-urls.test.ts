import type { SandboxOptions } from "pigeonhole/sandbox";
import { describe, expect, test } from "vitest";
import { openSandbox, fire } from "./support.js";

/** A sandbox under strictUrls whose names lead to these addresses; `posts` counts what was sent. */
function openStrict(
  lookUpHost: (host: string) => Promise<string[]>,
  url = "https://app.example.com/hook",
  options: SandboxOptions = {},
) {
  const posts: string[] = [];
  const sandbox = openSandbox({
    ...options,
    strictUrls: lookUpHost,
    receive(request) {
      posts.push(request.url);
      return new Response();
    },
  });
  const { id } = sandbox.endpoints.create({ url });
  return { sandbox, posts, id };
}

describe("strictUrls", () => {
  test.each(["127.0.0.1", "::ffff:127.0.0.1"])(
    "a name that resolves to %s fails until it is corrected",
    async (bad) => {
      let address = bad;
      const { sandbox, posts, id } = openStrict(async () => ["93.184.215.14", address]);
      await fire(sandbox);
      expect(posts).toEqual([]);
      const error = expect.stringContaining("private address") as string;
      expect(sandbox.deliveries()).toMatchObject([{ status: "failed", responseCode: null, error }]);
      expect(sandbox.endpoints.get(id).consecutiveFailures).toBe(1);
      address = "93.184.215.14";
      await sandbox.advance("2m");
      expect(posts).toEqual(["https://app.example.com/hook"]);
    },
  );

  test("a name that does not resolve fails", async () => {
    const { sandbox, posts } = openStrict(() => Promise.reject(new Error("ENOTFOUND")));
    await fire(sandbox);
    expect([posts, sandbox.deliveries()[0]?.error]).toEqual([[], "not sent: the host name was not found"]);
  });

  test("a name that takes too long to resolve counts as no answer within 5 s", async () => {
    const { sandbox, posts } = openStrict(() => new Promise(() => {}), undefined, { limits: { patienceMs: 50 } });
    sandbox.emit("email.sent");
    await sandbox.advance("5s");
    expect([posts, sandbox.deliveries()]).toMatchObject([[], [{ error: "no answer within 5 s", durationMs: 5_000 }]]);
    expect(sandbox.plannedAttempts[0]?.dueAtMs).toBeGreaterThan(sandbox.clock.now());
  });

  test("a resolver that returns nonsense fails that attempt only", async () => {
    let found: unknown = undefined;
    const { sandbox, posts } = openStrict(async () => found as string[]);
    await fire(sandbox);
    expect(sandbox.deliveries()).toMatchObject([{ status: "failed", responseCode: null }]);
    found = ["93.184.215.14"];
    await sandbox.advance("2m");
    expect(posts).toHaveLength(1);
  });

  test("a test delivery to a name with a private address is not sent either", async () => {
    const { sandbox, posts, id } = openStrict(async () => ["10.0.0.1"]);
    expect(await sandbox.endpoints.test(id)).toMatchObject({ status: "failed", responseCode: null });
    expect(posts).toEqual([]);
  });
});
