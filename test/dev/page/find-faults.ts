import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Rules that are off in axe-core unless told: someone who speaks to the page says what they read. */
const MORE_RULES = { "label-content-name-mismatch": { enabled: true } };

/** What axe-core finds in the page as it is now, as `rule: elements`. */
export async function findFaults(page: Page, rules?: readonly string[]): Promise<string[]> {
  // Given to the engine and not put into the page, whose security policy refuses scripts of others.
  await page.evaluate(`window.axe ?? (() => { ${AXE} })()`);
  const options = {
    resultTypes: ["violations"],
    ...(rules === undefined ? { rules: MORE_RULES } : { runOnly: rules }),
  };
  return page.evaluate<string[]>(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ": " + nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(" | ")))`);
}
