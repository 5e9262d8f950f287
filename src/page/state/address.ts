import { createAddress } from "./create-address.js";

const VIEWS = {
  dev: ["deliveries", "send", "outbox", "sandbox"],
  dashboard: ["overview", "errors", "work", "event", "outbox"],
} as const;

/** `event` is one event, which links lead to; the others are in the navigation of their face. */
export type ViewName = (typeof VIEWS)["dev" | "dashboard"][number];

/** The document says which face of the page it is. */
const face = globalThis.document?.documentElement.dataset["face"] === "dashboard" ? "dashboard" : "dev";

export const address = createAddress<ViewName>(VIEWS[face]);

export const { view, readParam, goTo, returnTo, setParams, goBack, linkTo } = address;
