import { beforeEach, expect, test } from "vitest";
import { type Workbench, describeBench } from "./workbench.js";

async function prepare({ deliver }: Workbench): Promise<void> {
  for (const type of ["email.sent", "email.failed", "email.queued"] as const) await deliver({ type });
}

describeBench("the page without a mouse", { prepare }, ({ bench, page, rows }) => {
  beforeEach(() => rows.nth(2).waitFor());

  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  const focusedRow = () => page.evaluate("document.activeElement.closest('[data-row]')?.innerText");
  const list = () => page.getByRole("region", { name: "Deliveries", exact: true });
  const title = () => page.getByRole("heading", { level: 2 }).innerText();
  const selectedTab = () => page.getByRole("tab", { selected: true }).innerText();

  test("j, k, arrows, Home, End and Enter walk the list and open a delivery", async () => {
    await press("j", "Enter");
    await expect.poll(title).toBe("email.queued");
    await press("j");
    await expect.poll(title).toBe("email.failed");
    await press("ArrowDown");
    await expect.poll(title).toBe("email.sent");
    await press("k");
    await expect.poll(title).toBe("email.failed");
    await press("Home");
    await expect.poll(title).toBe("email.queued");
    await press("End");
    await expect.poll(title).toBe("email.sent");
    await expect.poll(focusedRow).toContain("email.sent");
    await press("Escape");
    await expect.poll(() => page.getByRole("heading", { level: 2 }).count()).toBe(0);
  });

  test("Tab walks the tabs of the open delivery and leaves them at the end", async () => {
    await press("j", "Enter");
    await expect.poll(title).toBe("email.queued");
    await list().focus();
    await press("Tab");
    for (const name of ["Payload", "Headers", "Raw", "Answer", "Handlers", "Attempts", "Signature"]) {
      await expect.poll(selectedTab).toMatch(new RegExp(`^${name}`));
      await press("Tab");
    }
    await expect.poll(() => page.evaluate("document.activeElement.getAttribute('role')")).not.toBe("tab");
    // The field for another secret comes after the tabs; digits are its text.
    await list().focus();
    await press("2");
    await expect.poll(selectedTab).toContain("Headers");
  });

  test("the arrow keys fold and unfold the payload", async () => {
    await press("j", "Enter");
    const tree = page.getByRole("tree", { name: "Payload" });
    await tree.waitFor();
    const count = await tree.getByRole("treeitem").count();
    await tree.getByRole("treeitem").first().focus();
    await press("ArrowDown", "ArrowDown", "ArrowDown", "ArrowLeft");
    await expect.poll(() => tree.getByRole("treeitem").count()).toBeLessThan(count);
    await press("ArrowRight");
    await expect.poll(() => tree.getByRole("treeitem").count()).toBe(count);
    await expect.poll(title).toBe("email.queued");
  });

  test("the key / searches, and Esc clears, leaves and goes back", async () => {
    await press("/");
    await page.keyboard.type("failed");
    await expect.poll(() => rows.count()).toBe(1);
    await press("Escape", "Escape");
    await expect.poll(() => rows.count()).toBe(3);
    await press("j");
    await expect.poll(focusedRow).toContain("email.queued");
  });

  test("the keys r, p, e and Ctrl+Enter replay, pin, edit and send", async () => {
    await press("j", "r");
    await page.getByText(/200 duplicate .*Not run: /).waitFor();
    await press("p");
    await expect.poll(() => bench.dev.captures.list()[0]?.pinned).toBe(true);
    await press("e");
    await page.getByRole("textbox", { name: "Body" }).waitFor();
    await press("Control+Enter");
    await page.getByRole("region", { name: "Answer", exact: true }).getByText(/^200/).waitFor();
    await press("Escape");
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    expect(bench.dev.captures.list()[0]?.attempts).toHaveLength(3);
  });

  test("the keys x and Del choose, and delete after a question", async () => {
    await press("j", "x", "j", "x");
    await page.getByText("2 chosen").waitFor();
    await press("Delete");
    await page.getByRole("dialog").waitFor();
    await press("Enter");
    await expect.poll(() => bench.dev.captures.size).toBe(1);
  });

  test("keys act on no delivery that the search leaves out", async () => {
    await press("j", "x");
    await page.getByText("1 chosen").waitFor();
    await press("/");
    await page.keyboard.insertText("type:email.sent ");
    await expect.poll(() => rows.count()).toBe(1);
    const choice = list().getByRole("checkbox", { name: /^Choose (?:all|none)/ });
    expect(await choice.isChecked()).toBe(false);
    await list().focus();
    await press("r", "Delete");
    await page.waitForTimeout(300);
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(bench.dev.captures.list().map(({ attempts }) => attempts.length)).toEqual([1, 1, 1]);
    await press("Enter");
    await expect.poll(title).toBe("email.sent");
  });

  test("the keys n, g d, g x and g s change the view, and ? shows the keys", async () => {
    await press("n");
    await page.getByRole("navigation", { name: "Event types" }).waitFor();
    await press("Control+Enter");
    await page.getByRole("textbox", { name: "Envelope of the event" }).waitFor();
    await press("g", "x");
    await page.getByRole("heading", { name: "Outbox", exact: true }).waitFor();
    await press("g", "d");
    await list().waitFor();
    await press("?");
    const sheet = page.getByRole("dialog", { name: "Keys" });
    await sheet.waitFor();
    await expect.poll(() => sheet.innerText()).toContain("Replay, signed again");
    await press("Escape");
    await expect.poll(() => sheet.count()).toBe(0);
  });

  test("menus open, move and close by keys", async () => {
    await press("j", "Enter");
    await page.getByRole("button", { name: "Other ways to replay" }).focus();
    await press("Enter", "ArrowDown", "ArrowDown");
    await expect.poll(() => page.evaluate("document.activeElement.textContent")).toContain("Exactly as captured");
    await press("Escape");
    await expect
      .poll(() => page.evaluate("document.activeElement.getAttribute('aria-label')"))
      .toBe("Other ways to replay");
    await press("Enter", "ArrowDown", "Enter");
    await page.getByText(/Replayed: 200/).waitFor();
  });

  test("the focused element is always visible", async () => {
    await press("j", "Enter");
    await page.getByRole("tab", { name: "Payload" }).waitFor();
    for (let n = 0; n < 12; n += 1) {
      await press("Tab");
      const style = await page.evaluate(
        `(() => {
          const active = document.activeElement;
          if (active === document.body) return "past the end of the page";
          // The search shows the focus on its frame, the bar by its colour.
          const shown = active.closest(".search-field") ?? active;
          const isBar = active.role === "separator";
          const style = getComputedStyle(shown, isBar ? "::after" : null);
          return isBar ? style.backgroundColor : style.outlineStyle + " " + (active.className || active.tagName);
        })()`,
      );
      expect(style).not.toMatch(/^none|rgba\(0, 0, 0, 0\)/);
    }
  });
});
