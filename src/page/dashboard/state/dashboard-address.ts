import { createAddress } from "../../state/create-address.js";

/** `event` is one event, which links lead to; the others are in the navigation. */
export type DashboardView = "overview" | "errors" | "work" | "event" | "outbox";

export const { view, readParam, goTo, returnTo, setParams, goBack, linkTo } = createAddress<DashboardView>([
  "overview",
  "errors",
  "work",
  "event",
  "outbox",
]);
