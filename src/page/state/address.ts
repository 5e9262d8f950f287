import { createAddress } from "./create-address.js";

export type ViewName = "deliveries" | "send" | "inbox" | "sandbox";

export const address = createAddress<ViewName>(["deliveries", "send", "inbox", "sandbox"]);

export const { view, readParam, goTo, returnTo, setParams } = address;
