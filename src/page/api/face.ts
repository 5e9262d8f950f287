/** What a browser has, and a test has not. */
interface Browser {
  document?: { documentElement: { dataset: Record<string, string | undefined> } };
  location?: { origin: string; pathname: string };
}

const { document, location } = globalThis as Browser;

/** The document says which face of the page its server shows. */
export const face = document?.documentElement.dataset["face"] === "dashboard" ? "dashboard" : "dev";

/** Who answers, as the beginning of a sentence. */
export const SERVER = { dev: "The dev server", dashboard: "The app" }[face];

/**
 * The whole address of a path of the server that the page is from. A relative one would take over the name and password
 * that the page's own address may have, as in `https://ann:secret@ops.example/`, and `fetch` refuses those.
 */
export function addressOf(path: string): string {
  return location === undefined ? path : new URL(path, location.origin + location.pathname).href;
}
