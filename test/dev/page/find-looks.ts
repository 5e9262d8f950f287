import type { Page } from "playwright-core";
import { findFaults } from "./find-faults.js";

/** Rules of axe-core by the colours in which it looks; undefined: all of them. */
export type LookRules = Partial<Record<"light" | "dark", readonly string[] | undefined>>;

interface Look {
  rules: LookRules;
  /** Expressions of the page that give what is wrong, whatever the colours. */
  finders: readonly string[];
  /** Gets what is found. */
  found: string[];
}

/** Looks at the page as it is, by axe-core and by the eye, in light and in dark. */
export const lookAt =
  (page: Page, { rules, finders, found }: Look) =>
  async (place: string): Promise<void> => {
    const faults: string[] = [];
    for (const finder of finders) faults.push(...(await page.evaluate<string[]>(finder)));
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      faults.push(...(await page.evaluate<string[]>(FIND_FAINT_TEXT)));
      if (colorScheme in rules) faults.push(...(await findFaults(page, rules[colorScheme])));
    }
    found.push(...faults.map((fault) => `${place}: ${fault}`));
  };

/** Texts in sight whose contrast with what lies behind them is below 4.5 : 1 (WCAG AA), as `ratio text`. */
const FIND_FAINT_TEXT = `(() => {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const read = (colour) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const behind = (element) => {
    const layers = [];
    for (let e = element; e !== null; e = e.parentElement) layers.unshift(read(getComputedStyle(e).backgroundColor));
    return layers.reduce((below, layer) => over(layer, below), [255, 255, 255, 1]);
  };
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement;
    if (node.data.trim() === "" || element.closest(":disabled, .cm-editor .cm-gutters") !== null) continue;
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const ground = behind(element);
    const ink = over(read(getComputedStyle(element).color), ground);
    const [a, b] = [light(ink), light(ground)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) found.push(ratio.toFixed(2) + " " + node.data.trim().slice(0, 40));
  }
  return [...new Set(found)];
})()`;

/** Things that stick out of the window, or buttons that are cut off. */
export const FIND_CUT_OFF = `(() => {
  const found = [];
  if (document.documentElement.scrollWidth > innerWidth) found.push("the page scrolls sideways");
  for (const element of document.querySelectorAll("button, input, .pane-head h1, .detail-title h2, [role=tab]")) {
    const box = element.getBoundingClientRect();
    if (box.width === 0 || element.closest("[role=tablist], .list-rows, .types-list, .strip") !== null) continue;
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
