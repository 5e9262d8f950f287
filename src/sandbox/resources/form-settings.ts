import type { Contract } from "../../contract/contract.js";
import type { BodyInput } from "../../contract/operation.js";
import { holdsAddress, ownsAddress } from "../access/allowlists.js";
import { type Caller, SandboxApiError } from "../api/api-handlers.js";
import { requireScope } from "../calls/authenticate.js";
import { invalidForm } from "./form-document.js";
import type { Workspace } from "./resource.js";

/** Those of a new form. */
export const DEFAULT_SETTINGS = {
  audienceIds: [] as readonly string[],
  doubleOptIn: false,
  senderAddress: null as string | null,
  confirmSubject: "Please confirm your subscription",
  confirmMessage: "",
  confirmButton: "Confirm my subscription",
  successAction: "message" as "message" | "redirect",
  redirectUrl: null as string | null,
  notifyAddresses: [] as readonly string[],
};

export type FormSettings = typeof DEFAULT_SETTINGS;

type GivenSettings = BodyInput<Contract["forms"]["create"]>["settings"];

/** The settings with what was given, checked as a whole; what the caller must hold is asked only for changes. */
export function readFormSettings(
  { book, options, owned }: Workspace,
  before: FormSettings,
  { given, caller }: { given: GivenSettings; caller: Caller },
): FormSettings {
  if (given === undefined) return before;
  const changes = Object.entries(given).filter(([, value]) => value !== undefined);
  const settings = { ...before, ...(Object.fromEntries(changes) as Partial<FormSettings>) };
  const { senderAddress, notifyAddresses, doubleOptIn, successAction, redirectUrl, audienceIds } = settings;
  const named = [senderAddress, ...notifyAddresses].filter((address) => address !== null);
  const isChanged = (name: keyof FormSettings): boolean => settings[name] !== before[name];
  if (
    (doubleOptIn && isChanged("doubleOptIn")) ||
    (senderAddress !== null && isChanged("senderAddress")) ||
    (["confirmSubject", "confirmMessage", "confirmButton"] as const).some(isChanged)
  ) {
    requireScope(caller, "emails:send");
  }
  if (doubleOptIn && senderAddress === null) throw invalidForm("settings.senderAddress", "Is needed for doubleOptIn.");
  if (successAction === "redirect" && redirectUrl === null) {
    throw invalidForm("settings.redirectUrl", "Is needed while successAction is redirect.");
  }
  if (senderAddress !== null && !ownsAddress(options, senderAddress)) {
    throw new SandboxApiError({ code: "form_sender_refused", param: "settings.senderAddress" });
  }
  if (!notifyAddresses.every((address) => ownsAddress(owned, address))) {
    throw invalidForm("settings.notifyAddresses", "Must be addresses of the workspace.");
  }
  book.checkAudiences(audienceIds, "settings.audienceIds");
  const stored = [before.senderAddress, ...before.notifyAddresses];
  if (!named.every((address) => stored.includes(address) || holdsAddress(caller, address))) {
    throw new SandboxApiError({ code: "capability_unsupported", param: "settings" });
  }
  return settings;
}
