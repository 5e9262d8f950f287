import { afterAll, beforeAll, expect, test } from "vitest";
import { describeInBrowser } from "./browser.js";
import { captureLargeBodies, LARGE_BODIES } from "./large-bodies.js";
import { ROWS, openWorkbench, startWorkbench, type Workbench } from "./workbench.js";

describeInBrowser("a body of 5 MB", (open) => {
  let bench: Workbench;
  beforeAll(async () => void (bench = await startWorkbench({ captures: captureLargeBodies() })));
  afterAll(() => bench.close());

  // Times differ between machines; what costs time is what the browser must lay out.
  test.each(Object.keys(LARGE_BODIES).map((name, index) => [name, index] as const))(
    "every tab shows the beginning of %s only",
    async (_, index) => {
      const { page } = await open(bench.pageUrl);
      await page.locator(ROWS).nth(index).click();
      await page.getByRole("tabpanel").waitFor();
      for (const tab of ["Headers", "Raw", "Answer", "Handlers", "Attempts", "Signature", "Payload"]) {
        await page.getByRole("tab", { name: tab }).click();
        await expect.poll(() => page.getByRole("tabpanel").getAttribute("aria-label")).toBe(tab.toLowerCase());
        const [elements = 0, characters = 0] = await page.evaluate<number[]>(`(() => {
          const panel = document.querySelector("[role=tabpanel]");
          return [panel.querySelectorAll("*").length, panel.textContent.length];
        })()`);
        expect(elements, tab).toBeLessThan(1000);
        expect(characters, tab).toBeLessThan(70_000);
      }
    },
  );

  test("a list of many values is counted, and unfolded from its beginning", async () => {
    const count = 9_000;
    const rows = Array.from({ length: count }, (_, n) => ({ id: n, name: `the row with the number ${n}` }));
    const other = await openWorkbench();
    await other.deliver({ data: { rows } });
    const { page } = await open(other.pageUrl);
    await page.locator(ROWS).first().click();
    const tree = page.getByRole("tree", { name: "Payload" });
    const list = tree.getByRole("treeitem").filter({ hasText: `[ ${count} ]` });
    await list.getByRole("button", { name: "Unfold" }).click();
    const second = tree.getByRole("treeitem", { level: 3 }).nth(1);
    await second.getByRole("button", { name: "Unfold" }).click();
    await tree.getByText('"the row with the number 1"', { exact: true }).waitFor();
    expect(await tree.getByRole("treeitem").count()).toBe(400);
    await page.getByRole("button", { name: "Show more lines" }).click();
    await expect.poll(() => tree.getByRole("treeitem").count()).toBe(2400);
  });
});
