/** Folders under `templates/`; later ones override earlier ones. Every template begins with the common files. */
interface Template {
  readonly summary: string;
  readonly layers: readonly [string, ...string[]];
  /** Where the inbox is. */
  readonly database: "sqlite" | "postgres";
  /** For the README of the project. */
  readonly notes: string;
}

/** What can be scaffolded. The first is the default. */
export const TEMPLATES = {
  express: {
    summary: "Express 5, one handler per event type",
    layers: ["__common__", "express"],
    database: "sqlite",
    notes: "",
  },
  "express-sqlite-app": {
    summary: "Express 5, handlers write your own tables in the same transaction",
    layers: ["__common__", "express", "express-sqlite-app"],
    database: "sqlite",
    notes:
      "- `src/tables.ts`: your own tables, in the inbox's SQLite file: the store's `setup` makes them, handlers write them through `ctx.commit`, with the mark that the event is done, and routes read them through `store.read`. Nothing else may open the file.\n",
  },
  "express-postgres-app": {
    summary: "Express 5 on PostgreSQL, for any number of processes, with your own tables in the same transaction",
    layers: ["__common__", "express", "express-postgres-app"],
    database: "postgres",
    notes:
      "- `src/tables.ts`: your own tables, in the database of the inbox: the app makes them when it starts, and handlers write them through `ctx.commit`, with the mark that the event is done.\n",
  },
  hono: {
    summary: "Hono on Node, through the Fetch standard",
    layers: ["__common__", "hono"],
    database: "sqlite",
    notes: "",
  },
} as const satisfies Record<string, Template>;

export type TemplateName = keyof typeof TEMPLATES;

export const TEMPLATE_NAMES = Object.keys(TEMPLATES) as TemplateName[];
