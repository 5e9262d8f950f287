import { test } from "vitest";
import type { Death } from "./killed-example.js";
import { RECIPES, killRecipe } from "./killed-recipes.js";

// The recipes under examples/ as processes, killed where it tells most; recipes.long.test.ts kills them everywhere.

const after = (call: string): Death => ({ call, when: "after" });

test.each<[keyof typeof RECIPES, Death[]]>([
  ["sign-up-to-crm", [after("PUT /contacts/*/audiences")]],
  ["prepared-answer", [after("POST /drafts"), { call: "GET /drafts", when: "before" }]],
  ["attachment-archive", [after("GET /files/*/content")]],
])(
  "examples/%s.ts has each effect once, though SIGKILL ends it after the service did what it asked",
  async (name, deaths) => {
    await killRecipe(RECIPES[name], deaths);
  },
  60_000,
);
