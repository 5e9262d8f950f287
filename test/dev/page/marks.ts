import type { Page } from "playwright-core";
import { expect } from "vitest";

/** Markup that says where it got in. */
export function mark(place: string): string {
  return `<img src=x onerror="window.broken=(window.broken??'')+'${place} '">`;
}

/** Waits until the page shows the marks of these places, as text or as the title of something. */
export async function seeMarks(page: Page, places: string): Promise<void> {
  // Of the mark only what is the same in the text of JSON.
  const missing = async () => {
    const text = await page.evaluate<string>(
      "document.body.innerText + [...document.querySelectorAll('[title]')].map((element) => element.title).join()",
    );
    return places.split(" ").filter((place) => !text.includes(`+'${place} '`));
  };
  await expect.poll(missing, { message: "places whose text is not shown" }).toEqual([]);
}

/** Nothing in the page was made of a mark. */
export async function expectNoMarkup(page: Page): Promise<void> {
  expect(await page.evaluate("window.broken")).toBeUndefined();
  expect(await page.evaluate("document.querySelectorAll('img:not(.nav-mark), [onerror]').length")).toBe(0);
}
