import { isDeepStrictEqual } from "node:util";
import type { Contract } from "../../contract/contract.js";
import { FORM_LIMITS } from "../../contract/form.js";
import type { BodyInput } from "../../contract/operation.js";
import { type ApiHandlers, type Caller, SandboxApiError } from "../api/api-handlers.js";
import { requireScope } from "../calls/authenticate.js";
import { holdsAddress, ownsAddress } from "../access/allowlists.js";
import { Collection, type CollectionRow, pageBody } from "../api/collection.js";
import {
  type FormDocument,
  STARTERS,
  designDocument,
  findWrongAnswers,
  invalidForm,
  readDocument,
} from "./form-document.js";
import type { SandboxResource, Workspace } from "./resource.js";

const DEFAULT_SETTINGS = {
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
type Settings = typeof DEFAULT_SETTINGS;
type GivenSettings = BodyInput<Contract["forms"]["create"]>["settings"];

interface FormRow extends CollectionRow {
  name: string;
  description: string | null;
  status: "draft" | "live" | "paused";
  document: FormDocument;
  publishedDocument: FormDocument | null;
  settings: Settings;
  publishedAt: string | null;
  createdAt: string;
  updatedAt: string;
  /** The member whose app made it; undefined for the owner. */
  member: string | undefined;
}

type Params = Readonly<Record<string, string>>;

/** The workspace's sign-up forms. See docs/service.md#forms. */
export function createForms(workspace: Workspace): SandboxResource<"forms"> {
  const { makeId, options, book, signUps } = workspace;
  const forms = new Collection<FormRow>({
    kind: "form",
    missing: { code: "form_not_found", message: "There is no such form." },
    limit: {
      max: FORM_LIMITS.perWorkspace,
      code: "workspace_limit_reached",
      message: `The workspace has ${FORM_LIMITS.perWorkspace} forms already; delete one first.`,
    },
  });
  let aiActions = 0;
  const get = (params: Params, { member }: Caller): FormRow =>
    forms.get(params["id"] ?? "", (form) => member === undefined || form.member === member);
  const save = (form: FormRow, changes: Partial<Omit<FormRow, keyof CollectionRow>>): FormRow =>
    forms.change(form.id, { ...changes, updatedAt: laterThan(form.updatedAt, book.now()) });
  const fullBody = (form: FormRow): object => ({ ...itemBody(workspace, form), ...contentOf(workspace, form) });

  type Content = Pick<FormRow, "name" | "description" | "document" | "settings">;
  function add(of: Content, { member }: Caller, isLive = false): FormRow {
    const at = book.now();
    return forms.add((sequence) => ({
      ...of,
      id: `frm_${makeId.hex(`form ${sequence}`)}`,
      sequence,
      status: isLive ? "live" : "draft",
      publishedDocument: isLive ? of.document : null,
      publishedAt: isLive ? at : null,
      createdAt: at,
      updatedAt: at,
      member,
    }));
  }
  const publish = (form: FormRow): FormRow => {
    const at = laterThan(form.updatedAt, book.now());
    return forms.change(form.id, { status: "live", publishedDocument: form.document, publishedAt: at, updatedAt: at });
  };

  /** Uses one AI action. The sandbox's designer fails when told to leave the address. */
  function design(brief: string): FormDocument {
    if (options.aiActions === "off") {
      throw new SandboxApiError({ code: "ai_not_configured", message: "The workspace has no AI actions." });
    }
    if (aiActions >= options.aiActions) {
      throw new SandboxApiError({ code: "ai_quota_exceeded", message: "The AI actions are used up." });
    }
    aiActions += 1;
    if (/without (?:an? )?e-?mail/i.test(brief)) {
      throw invalidForm("document.fields", "The designer made a form without an email field.");
    }
    return designDocument(aiActions);
  }
  const designed = (form: FormRow): object => ({
    ...fullBody(form),
    design: { notes: ["It asks for name and address."] },
  });

  const handlers: ApiHandlers["forms"] = {
    list({ query, caller: { member } }) {
      const where = (form: FormRow): boolean => member === undefined || form.member === member;
      const page = forms.page({ list: "forms", filters: [member], where, ...query });
      return { body: pageBody(page, (form) => itemBody(workspace, form)) };
    },
    get: ({ params, caller }) => ({ body: fullBody(get(params, caller)) }),
    create({ body, caller }) {
      const document = documentOf(body);
      const settings = readSettings(workspace, { ...DEFAULT_SETTINGS }, { given: body.settings, caller });
      const { name, description = null, publish: isLive } = body;
      return { body: fullBody(add({ name, description, document, settings }, caller, isLive)) };
    },
    update({ params, body, caller }) {
      const form = get(params, caller);
      requireVersion(form, body.expectedUpdatedAt);
      const { name = form.name, description = form.description } = body;
      const document = body.document === undefined ? form.document : readDocument(body.document, name);
      const settings = readSettings(workspace, form.settings, { given: body.settings, caller });
      return { body: fullBody(save(form, { name, description, settings, document })) };
    },
    publish: ({ params, caller }) => ({ body: fullBody(publish(get(params, caller))) }),
    pause({ params, caller }) {
      const form = get(params, caller);
      return { body: fullBody(form.status === "live" ? save(form, { status: "paused" }) : form) };
    },
    copy({ params, body: { name }, caller }) {
      const { description, document, settings, ...form } = get(params, caller);
      const copy = add({ name: name ?? `${form.name} (copy)`.slice(0, 120), description, document, settings }, caller);
      return { body: fullBody(copy) };
    },
    delete({ params, caller }) {
      const { id } = get(params, caller);
      signUps.clear(id);
      return { body: forms.delete(id) };
    },
    design({ body: { brief, name = "Designed form" }, caller }) {
      const document = design(brief);
      return { body: designed(add({ name, description: null, document, settings: { ...DEFAULT_SETTINGS } }, caller)) };
    },
    redesign({ params, body: { instructions, expectedUpdatedAt }, caller }) {
      const form = get(params, caller);
      requireVersion(form, expectedUpdatedAt);
      return { body: designed(save(form, { document: design(instructions) })) };
    },
    starters() {
      const data = Object.entries(STARTERS).map(([slug, { name, description }]) => ({
        object: "form_starter",
        slug,
        name,
        description,
      }));
      return { body: { object: "list", data } };
    },
    starter({ params }) {
      const slug = params["slug"] ?? "";
      const starter = Object.hasOwn(STARTERS, slug) ? STARTERS[slug] : undefined;
      if (starter !== undefined) return { body: { object: "form_starter", slug, ...starter } };
      throw new SandboxApiError({ code: "form_starter_not_found", message: "No starter has this slug." });
    },
    subscribe({ params, body, nowMs, referer, ip }) {
      signUps.posts.take(ip ?? "", 1, nowMs);
      const form = forms.get(params["formId"] ?? "", ({ publishedDocument }) => publishedDocument !== null);
      const { publishedDocument, status, settings, id } = form;
      if (status === "paused" || publishedDocument === null) {
        throw new SandboxApiError({ code: "form_closed", message: "The form is paused." });
      }
      const fields = findWrongAnswers(publishedDocument, body);
      if (fields.length > 0) {
        throw new SandboxApiError({
          code: "invalid_form_submission",
          message: "Answers are missing or invalid.",
          fields,
        });
      }
      const keys = publishedDocument.fields.map(({ key }) => String(key));
      const answers = Object.fromEntries(
        Object.entries(body).filter(([key]) => keys.includes(key) && !key.startsWith("svc_")),
      );
      const { svc_website: website = "", svc_started: started, svc_source: source = referer } = body;
      // A bot gets a normal answer.
      const isDropped = website !== "" || started !== undefined;
      const planned = settings.doubleOptIn ? "pending" : "added";
      const outcome = isDropped ? planned : signUps.submit(form, answers, pageOf(source));
      const redirectUrl = settings.successAction === "redirect" ? settings.redirectUrl : null;
      return { body: { object: "form_subscription", formId: id, outcome, redirectUrl } };
    },
  };
  return {
    handlers,
    rows: () => forms.rows.map(fullBody),
    reset() {
      forms.clear();
      signUps.clear();
      aiActions = 0;
    },
  };
}

function documentOf({ name, document, starter = "blank" }: BodyInput<Contract["forms"]["create"]>): FormDocument {
  if (document !== undefined) return readDocument(document, name);
  const found = Object.hasOwn(STARTERS, starter) ? STARTERS[starter] : undefined;
  if (found !== undefined) return found.document;
  throw new SandboxApiError({ code: "invalid_parameter", param: "starter", message: "No starter has this slug." });
}

/** The settings with what was given, checked as a whole; what the caller must hold is asked only for changes. */
function readSettings(
  { book, options, owned }: Workspace,
  before: Settings,
  { given, caller }: { given: GivenSettings; caller: Caller },
): Settings {
  if (given === undefined) return before;
  const changes = Object.entries(given).filter(([, value]) => value !== undefined);
  const settings = { ...before, ...(Object.fromEntries(changes) as Partial<Settings>) };
  const { senderAddress, notifyAddresses, doubleOptIn, successAction, redirectUrl, audienceIds } = settings;
  const named = [senderAddress, ...notifyAddresses].filter((address) => address !== null);
  const isChanged = (name: keyof Settings): boolean => settings[name] !== before[name];
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
    const message = "The caller may not send as this address.";
    throw new SandboxApiError({ code: "form_sender_refused", param: "settings.senderAddress", message });
  }
  if (!notifyAddresses.every((address) => ownsAddress(owned, address))) {
    throw invalidForm("settings.notifyAddresses", "Must be addresses of the workspace.");
  }
  book.checkAudiences(audienceIds, "settings.audienceIds");
  const stored = [before.senderAddress, ...before.notifyAddresses];
  if (!named.every((address) => stored.includes(address) || holdsAddress(caller, address))) {
    const message = "The key is limited to other addresses or domains.";
    throw new SandboxApiError({ code: "capability_unsupported", param: "settings", message });
  }
  return settings;
}

function requireVersion({ updatedAt }: FormRow, expected: string | undefined): void {
  if (expected === undefined || expected === updatedAt) return;
  throw new SandboxApiError({ code: "version_conflict", message: "The form was saved since it was read." });
}

/** `now`, or the next millisecond after `before`: no two versions of a form have the same time. */
function laterThan(before: string, now: string): string {
  return now > before ? now : new Date(Date.parse(before) + 1).toISOString();
}

function itemBody({ options, signUps }: Workspace, form: FormRow): object {
  const { id, name, description, status, settings, publishedAt, createdAt, updatedAt } = form;
  const url = `https://forms.${options.domains[0] ?? "invalid"}/${id}`;
  return {
    id,
    name,
    description,
    status,
    url,
    subscribeUrl: `${url}/subscribe`,
    audienceIds: settings.audienceIds,
    doubleOptIn: settings.doubleOptIn,
    hasUnpublishedChanges: form.publishedDocument !== null && !isDeepStrictEqual(form.publishedDocument, form.document),
    stats: signUps.statsOf(id),
    publishedAt,
    createdAt,
    updatedAt,
  };
}

function contentOf({ book }: Workspace, { document, publishedDocument, settings }: FormRow): object {
  const audiences = book.audiences.filter(({ id, builtin }) => builtin !== null || settings.audienceIds.includes(id));
  return { document, publishedDocument, settings, audiences, senderIssue: null, senderProblem: null };
}

/** The page of a sign-up as it is stored: origin and path. */
function pageOf(source: string | undefined): string | null {
  if (source === undefined || !URL.canParse(source)) return null;
  const { origin, pathname } = new URL(source);
  return origin + pathname;
}
