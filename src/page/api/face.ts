interface Browser {
  document?: { documentElement: { dataset: Record<string, string | undefined> } };
}

/** The document says which face of the page its server shows; there is none in tests. */
export const face =
  (globalThis as Browser).document?.documentElement.dataset["face"] === "dashboard" ? "dashboard" : "dev";
