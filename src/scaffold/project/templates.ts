/** Folders under `templates/`; later ones override earlier ones. Every template begins with the common files. */
interface Template {
  readonly summary: string;
  readonly layers: readonly [string, ...string[]];
  /** For the README of the project. */
  readonly notes: string;
}

/** What can be scaffolded. The first is the default. */
export const TEMPLATES = {
  express: {
    summary: "Express 5, one handler per event type",
    layers: ["__common__", "express"],
    notes: "",
  },
  "express-sqlite-app": {
    summary: "Express 5, handlers write your own tables in the same transaction",
    layers: ["__common__", "express", "express-sqlite-app"],
    notes:
      "- `src/tables.ts`: your own tables, in the inbox's SQLite file: the store's `setup` makes them, handlers write them through `ctx.commit`, with the mark that the event is done, and routes read them through `store.read`. Nothing else may open the file.\n",
  },
  hono: {
    summary: "Hono on Node, through the Fetch standard",
    layers: ["__common__", "hono"],
    notes: "",
  },
} as const satisfies Record<string, Template>;

export type TemplateName = keyof typeof TEMPLATES;

export const TEMPLATE_NAMES = Object.keys(TEMPLATES) as TemplateName[];
