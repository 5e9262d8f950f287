import { expect, onTestFinished, test, vi } from "vitest";
import { fetchSession, postHandlerChange, viewer } from "../../src/page/api/calls.js";
import { errorOf } from "../support/error-of.js";

/** An app whose tokens end at once after a change of `state`. Returns the names under which it acted. */
function serveApp(state: { name: string; token: string }): string[] {
  const acted: string[] = [];
  vi.stubGlobal("fetch", (path: string, { method, headers }: RequestInit) => {
    if (method !== "POST") return Promise.resolve(Response.json(state));
    if (!Object.values(headers ?? {}).includes(state.token)) {
      const body = { code: "token_expired", message: "The page was open for long." };
      return Promise.resolve(Response.json(body, { status: 403 }));
    }
    acted.push(`${state.name} ${path}`);
    return Promise.resolve(Response.json({ handlers: [] }));
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  return acted;
}

test("an action whose token has ended is repeated for the same person", async () => {
  const state = { name: "ann", token: "a1" };
  const acted = serveApp(state);
  await fetchSession();
  state.token = "a2";
  await postHandlerChange("crm", "pause");
  expect(acted).toEqual(["ann api/handlers/pause"]);
});

test("an action is not repeated for another person, who is shown then", async () => {
  const state = { name: "ann", token: "a1" };
  const acted = serveApp(state);
  await fetchSession();
  Object.assign(state, { name: "bob", token: "b1" });
  const { message } = await errorOf(() => postHandlerChange("crm", "pause"));
  expect(message).toBe("bob is signed in now, no longer ann. Nothing was done. To act as bob, do it again.");
  expect(acted).toEqual([]);
  expect(viewer.value?.name).toBe("bob");
  await postHandlerChange("crm", "pause");
  expect(acted).toEqual(["bob api/handlers/pause"]);
});
