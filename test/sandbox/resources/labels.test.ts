import { createClient } from "pigeonhole/client";
import { describe, expect, test } from "vitest";
import { refusalOf } from "../../support/error-of.js";
import { openOnClock } from "../support.js";

const openLabels = () => {
  const { sandbox, clock } = openOnClock();
  return { labels: createClient({ ...sandbox.clientOptions, clock }).labels, sandbox, clock };
};

describe("labels", () => {
  test("a label has its name trimmed, an id made from it and a color for its text", async () => {
    const { labels, clock } = openLabels();
    const at = new Date(clock.now()).toISOString();
    const made = await labels.create({ name: "  Big  orders\t2 ", color: { backgroundColor: "#fd6" } });
    expect(made).toEqual({
      id: "USER_BIG_ORDERS_2",
      name: "Big  orders\t2",
      type: "user",
      color: { backgroundColor: "#FD6", textColor: "#1F1F1F" },
      threadCount: 0,
      createdAt: at,
      updatedAt: at,
    });
    expect(await labels.get(made.id)).toEqual(made);
    expect(await refusalOf(() => labels.get(made.id.toLowerCase()))).toMatchObject({ status: 404 });
  });

  test("a label keeps its id when it is renamed, and no other label can have that id", async () => {
    const { labels, clock } = openLabels();
    const { id } = await labels.create({ name: "Old", color: { backgroundColor: "#000000", textColor: "ignored" } });
    await clock.advance(1_000);
    const renamed = await labels.update(id, { name: "New" });
    expect(renamed).toMatchObject({ id, name: "New", color: { textColor: "#FFFFFF" } });
    expect(Date.parse(renamed.updatedAt) - Date.parse(renamed.createdAt)).toBe(1_000);
    expect(await refusalOf(() => labels.create({ name: "old" }))).toMatchObject({ code: "label_name_taken" });
    await labels.delete(id);
    expect((await labels.create({ name: "old" })).id).toBe(id);
  });

  test.each([[null], [{ backgroundColor: "" }]])("a color of a label is cleared by %j", async (color) => {
    const { labels } = openLabels();
    const { id } = await labels.create({ name: "a", color: { backgroundColor: "gradient:ocean" } });
    expect(await labels.update(id, { color })).toMatchObject({ name: "a", color: null });
  });

  const colors = ["#12345", "red", "gradient:", "gradient:none", `#${"1".repeat(40)}`];
  test.each(colors)("a label cannot have the color %s", async (backgroundColor) => {
    const { labels, sandbox } = openLabels();
    const got = await refusalOf(() => labels.create({ name: "a", color: { backgroundColor } }));
    expect(got).toMatchObject({ code: "invalid_parameter", param: "color.backgroundColor" });
    expect(sandbox.rows("labels")).toEqual([]);
  });

  test.each([
    ["a", true],
    ["x".repeat(225), true],
    [`${"x".repeat(225)} `, true],
    ["x".repeat(226), false],
    ["   ", false],
  ])("a name of a label has 1 to 225 characters: %j", async (name, isAllowed) => {
    const { labels } = openLabels();
    const got = await labels.create({ name }).catch((error: { param?: string }) => error.param);
    expect(got).toEqual(isAllowed ? expect.objectContaining({ name: name.trim() }) : "name");
  });

  test("a label whose id is longer than its name, by letters that grow in upper case, is found by it", async () => {
    const { labels } = openLabels();
    const { id } = await labels.create({ name: "\u0390".repeat(225) });
    expect([id.length, (await labels.get(id)).id]).toEqual([680, id]);
    expect(await labels.update(id, { name: "short" })).toMatchObject({ id });
    expect(await labels.delete(id)).toMatchObject({ id, deleted: true });
  });

  test("an update of a label without a name and a color is refused", async () => {
    const { labels } = openLabels();
    expect(await refusalOf(() => labels.update("USER_A", {}))).toMatchObject({ code: "invalid_parameter" });
  });

  test("the palette has 14 solids and 7 gradients, each of which a label can have", async () => {
    const { labels } = openLabels();
    const palette = await labels.palette();
    expect(palette.map(({ kind }) => kind).join(" ")).toBe("solid ".repeat(14) + "gradient ".repeat(7).trim());
    for (const { value, name, textColor } of palette) {
      const { color } = await labels.create({ name, color: { backgroundColor: value } });
      expect(color).toEqual({ backgroundColor: value, textColor });
    }
  });
});
