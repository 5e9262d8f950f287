import { contactAddress } from "../../contract/contact-address.js";
import type { Contract } from "../../contract/contract.js";
import type { BodyInput } from "../../contract/operation.js";
import { holdsAddress, ownsAddress } from "../access/allowlists.js";
import { type Caller, SandboxApiError } from "../api/api-handlers.js";
import { requireScope } from "../calls/authenticate.js";
import type { Workspace } from "./resource.js";

/** What visitors fill in. */
export interface FormDocument {
  fields: Readonly<Record<string, unknown>>[];
  copy?: Readonly<Record<string, unknown>> | undefined;
  [part: string]: unknown;
}

/** A field with its 15 keys, null where unused. Their names are assumed. */
function field(of: FormDocument["fields"][0]): FormDocument["fields"][0] {
  const first = { id: `f_${String(of["key"])}`, key: null, type: null, label: null, required: false, options: null };
  const unused = { placeholder: null, help: null, min: null, max: null, pattern: null, rows: null, defaultValue: null };
  return { ...first, ...unused, hidden: null, width: null, ...of };
}

const EMAIL = field({ key: "email", type: "email", label: "Email", required: true });
const NAME = { key: "name", type: "text", label: "Name" };

function documentOf(title: string, ...fields: FormDocument["fields"]): FormDocument {
  return { fields: [EMAIL, ...fields.map(field)], copy: { title, thankYou: "Thank you." }, style: null };
}

/** A form to begin with. Its fields beside the address, and its texts, are made up. */
function starter(name: string, ...fields: FormDocument["fields"]) {
  return { name, description: `${name}: a form to begin with.`, document: documentOf(name, ...fields) };
}

/** The forms to begin with, by slug. */
export const STARTERS: Readonly<Record<string, ReturnType<typeof starter>>> = {
  blank: starter("Blank"),
  newsletter: starter("Newsletter", NAME),
  waitlist: starter("Waitlist", { key: "size", type: "number", label: "Team size" }),
  event: starter("Event", NAME, { key: "meal", type: "choice", label: "Meal", options: ["all", "vegan"] }),
  "early-access": starter("Early access", { key: "topics", type: "multiple", options: ["product", "events"] }),
  contact: starter(
    "Contact",
    { key: "message", type: "text", label: "Message", required: true },
    { key: "consent", type: "consent", label: "Consent", required: true },
  ),
};

/**
 * The document with everything that is left out. Throws 422 `invalid_form` unless there is one email field, keyed
 * `email` and required, and no key or id twice.
 */
export function readDocument(given: FormDocument, title: string): FormDocument {
  const fields = given.fields.map(field);
  const emails = fields.filter(({ type }) => type === "email");
  const [email] = emails;
  if (emails.length !== 1 || email?.["key"] !== "email" || email["required"] !== true) {
    throw invalidForm("document.fields", "Must have one email field, with the key email and required.");
  }
  for (const part of ["key", "id"]) {
    const values = new Set(fields.map((one) => one[part]));
    if (values.size < fields.length) throw invalidForm("document.fields", `Must have no ${part} twice.`);
  }
  return { style: null, ...given, fields, copy: { title, ...given.copy } };
}

/** 422 `invalid_form`. */
function invalidForm(param: string, message: string): SandboxApiError {
  return new SandboxApiError({ code: "invalid_form", param, message });
}

/** What is wrong with the answers to a form, by the key of the field; empty when nothing is. */
export function findWrongAnswers(
  { fields }: FormDocument,
  answers: Readonly<Record<string, unknown>>,
): { key: string; error: string }[] {
  return fields.flatMap((one) => {
    const key = String(one["key"]);
    const answer = Object.hasOwn(answers, key) ? answers[key] : undefined;
    const isMissing = answer === undefined || answer === null || answer === "";
    if (isMissing) return one["required"] === true ? [{ key, error: key === "email" ? "email" : "required" }] : [];
    return isAnswer(one, answer) ? [] : [{ key, error: String(one["type"]) }];
  });
}

function isAnswer(one: Readonly<Record<string, unknown>>, answer: unknown): boolean {
  const options = Array.isArray(one["options"]) ? (one["options"] as unknown[]) : [];
  switch (one["type"]) {
    case "email":
      return typeof answer === "string" && contactAddress().safeParse(answer).success;
    case "number":
      return (
        ["number", "string"].includes(typeof answer) && /\S/.test(String(answer)) && Number.isFinite(Number(answer))
      );
    case "checkbox":
    case "consent":
      return typeof answer === "boolean" && (answer || one["required"] !== true);
    case "choice":
    case "dropdown":
      return options.includes(answer);
    case "multiple":
    case "audience":
      return Array.isArray(answer) && answer.every((item) => options.includes(item));
    default:
      return typeof answer === "string";
  }
}

/**
 * What the designer makes of a brief: a form that asks for the name too. It fails when told to leave the address. The
 * titles differ by `number`, so that a redesign is a change.
 */
export function designDocument(brief: string, number: number): FormDocument {
  if (!/without (?:an? )?e-?mail/i.test(brief)) return documentOf(`News ${number}`, NAME);
  throw invalidForm("document.fields", "The designer made a form without an email field.");
}

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
