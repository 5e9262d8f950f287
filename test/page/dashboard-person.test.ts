import { expect, onTestFinished, test, vi } from "vitest";
import { fetchSession, postHandlerChange, viewer } from "../../src/page/api/calls.js";
import { PERSON_HEADER } from "../../src/web/api/session.js";
import { errorOf } from "../support/error-of.js";

test("an action is not done as another person, who is shown then", async () => {
  const session = { name: "ann" };
  const acted: string[] = [];
  vi.stubGlobal("fetch", (path: string, { method, headers }: RequestInit) => {
    if (method !== "POST") return Promise.resolve(Response.json(session));
    const { [PERSON_HEADER]: asked } = headers as Record<string, string>;
    if (asked !== session.name)
      return Promise.resolve(Response.json({ code: "other_person", message: "" }, { status: 403 }));
    acted.push(`${session.name} ${path}`);
    return Promise.resolve(Response.json({ handlers: [] }));
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  await fetchSession();
  session.name = "bob";
  const { message } = await errorOf(() => postHandlerChange("crm", "pause"));
  expect(message).toBe("bob is signed in now, no longer ann. Nothing was done. To act as bob, do it again.");
  expect(acted).toEqual([]);
  expect(viewer.value?.name).toBe("bob");
  await postHandlerChange("crm", "pause");
  expect(acted).toEqual(["bob api/handlers/pause"]);
});
