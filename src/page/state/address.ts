import { face } from "../api/face.js";
import { createAddress } from "./create-address.js";

const VIEWS = {
  dev: ["deliveries", "send", "outbox", "sandbox"],
  dashboard: ["overview", "errors", "work", "event", "outbox"],
} as const;

/** `event` is one event, which links lead to; the others are in the navigation of their face. */
export type ViewName = (typeof VIEWS)["dev" | "dashboard"][number];

export const address = createAddress<ViewName>(VIEWS[face]);

export const { view, readParam, goTo, returnTo, setParams, goBack, linkTo } = address;

/** The link to an event of the inbox. */
export const linkToEvent = (id: string): string =>
  face === "dev" ? linkTo("deliveries", { q: `work:"${id}"` }) : linkTo("event", { id });
