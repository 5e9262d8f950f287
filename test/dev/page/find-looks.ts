import type { Page } from "playwright-core";
import { findFaults } from "./find-faults.js";

/** Of the rules, the colours decide these alone; the others see the same page in dark as in light. */
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];

interface Look {
  /** Whether axe-core looks by all of its rules, and not only by those of colours. */
  hasAllRules: boolean;
  /** Expressions of the page that give what is wrong, whatever the colours. */
  finders: readonly string[];
  /** Gets what is found. */
  found: string[];
}

/** Looks at the page as it is, by axe-core and by the eye, in light and in dark. */
export const lookAt =
  (page: Page, { hasAllRules, finders, found }: Look) =>
  async (place: string): Promise<void> => {
    const faults: string[] = [];
    for (const finder of finders) faults.push(...(await page.evaluate<string[]>(finder)));
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const isAll = hasAllRules && colorScheme === "light";
      faults.push(...(await findFaults(page, isAll ? undefined : COLOUR_RULES)));
    }
    found.push(...faults.map((fault) => `${place}: ${fault}`));
  };

/** Things that stick out of the window, or buttons that are cut off. */
export const FIND_CUT_OFF = `(() => {
  const found = [];
  if (document.documentElement.scrollWidth > innerWidth) found.push("the page scrolls sideways");
  for (const element of document.querySelectorAll("button, input, .pane-head h1, .detail-title h2, [role=tab]")) {
    const box = element.getBoundingClientRect();
    if (box.width === 0 || element.closest("[role=tablist], .list-rows, .types-list, .strip, .state-choice") !== null) continue;
    if (box.right > innerWidth + 1 || box.left < -1) found.push(element.textContent || element.getAttribute("aria-label"));
  }
  return found;
})()`;

/** Pairs of neighbours in one line that lie over each other, by their texts; a menu may lie over what is below it. */
export const FIND_OVERLAPS = `(() => {
  const found = [];
  const menuOf = (part) => part.closest("[role=menu], [role=listbox]");
  for (const line of document.querySelectorAll(".top, .toolbar, .search-field, .pane-head, .detail-title, .actions")) {
    const parts = [...line.querySelectorAll("code, button, kbd, input, h1, h2, .hint, .icon, .connection")]
      .filter((part) => part.checkVisibility())
      .map((part) => ({ part, box: part.getBoundingClientRect() }));
    for (const [index, a] of parts.entries()) {
      for (const b of parts.slice(index + 1)) {
        if (a.part.contains(b.part) || b.part.contains(a.part) || menuOf(a.part) !== menuOf(b.part)) continue;
        const width = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
        const height = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
        const name = ({ part }) => part.textContent || part.getAttribute("class");
        if (width > 1 && height > 1) found.push(name(a) + " | " + name(b));
      }
    }
  }
  return found;
})()`;

/** Parts that a long word makes wider than they are, and dialogs wider than the window. Lists may scroll. */
export const FIND_WIDENED = `[document.documentElement, ...document.querySelectorAll(".dash-list, .detail-body, dialog")]
  .filter((part) => part.scrollWidth > part.clientWidth || part.getBoundingClientRect().right > innerWidth)
  .map((part) => "widened: " + (part.className || part.tagName))`;
