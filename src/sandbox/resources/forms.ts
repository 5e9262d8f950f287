import { isDeepStrictEqual } from "node:util";
import type { Contract } from "../../contract/contract.js";
import { FORM_LIMITS } from "../../contract/forms.js";
import type { BodyInput, QueryInput } from "../../contract/operation.js";
import { type PageBody, pageBody } from "../api/page-rows.js";
import { type ApiCall, type ApiHandlers, type Caller, SandboxApiError } from "../api/api-handlers.js";
import { Collection, type CollectionRow } from "../api/collection.js";
import {
  DEFAULT_SETTINGS,
  type FormDocument,
  type FormSettings,
  STARTERS,
  designDocument,
  findWrongAnswers,
  readDocument,
  readFormSettings,
} from "./form-content.js";
import type { SandboxResource, Workspace } from "./resource.js";

interface FormRow extends CollectionRow {
  name: string;
  description: string | null;
  status: "draft" | "live" | "paused";
  document: FormDocument;
  publishedDocument: FormDocument | null;
  settings: FormSettings;
  publishedAt: string | null;
  createdAt: string;
  updatedAt: string;
  /** The member whose app made it; undefined for the owner. */
  member: string | undefined;
}

/** The workspace's sign-up forms. See docs/service.md#forms. */
export function createForms(workspace: Workspace): SandboxResource<"forms"> {
  const { signUps } = workspace;
  const { forms, page, get, save, fullBody, add, publish, designOf, clear } = formRules(workspace);
  const design = { notes: ["It asks for name and address."] };
  const designed = (form: FormRow): object => ({ ...fullBody(form), design });
  const handlers: ApiHandlers["forms"] = {
    list: ({ query, caller }) => pageBody(page(query, caller), (form) => itemBody(workspace, form)),
    get: ({ params, caller }) => fullBody(get(params, caller)),
    create({ body, caller }) {
      const document = documentOf(body);
      const settings = readFormSettings(workspace, { ...DEFAULT_SETTINGS }, { given: body.settings, caller });
      const { name, description = null, publish: isLive } = body;
      return fullBody(add({ name, description, document, settings }, caller, isLive));
    },
    update({ params, body, caller }) {
      const form = get(params, caller);
      requireVersion(form, body.expectedUpdatedAt);
      const { name = form.name, description = form.description } = body;
      const document = body.document === undefined ? form.document : readDocument(body.document, name);
      const settings = readFormSettings(workspace, form.settings, { given: body.settings, caller });
      return fullBody(save(form, { name, description, settings, document }));
    },
    publish: ({ params, caller }) => fullBody(publish(get(params, caller))),
    pause({ params, caller }) {
      const form = get(params, caller);
      return fullBody(form.status === "live" ? save(form, { status: "paused" }) : form);
    },
    copy({ params, body: { name }, caller }) {
      const { description, document, settings, ...form } = get(params, caller);
      const copied = name ?? `${form.name} (copy)`.slice(0, 120);
      return fullBody(add({ name: copied, description, document, settings }, caller));
    },
    delete({ params, caller }) {
      const { id } = get(params, caller);
      signUps.clear(id);
      return forms.delete(id);
    },
    design({ body: { brief, name = "Designed form" }, caller }) {
      const document = designOf(brief);
      return designed(add({ name, description: null, document, settings: { ...DEFAULT_SETTINGS } }, caller));
    },
    redesign({ params, body: { instructions, expectedUpdatedAt }, caller }) {
      const form = get(params, caller);
      requireVersion(form, expectedUpdatedAt);
      return designed(save(form, { document: designOf(instructions) }));
    },
    ...STARTER_HANDLERS,
    subscribe: (call) => subscribe(forms, signUps, call),
  };
  return {
    handlers,
    rows: () => forms.rows.map(fullBody),
    reset() {
      clear();
      signUps.clear();
    },
  };
}

/** The forms, and what changes them. */
function formRules(workspace: Workspace) {
  const { makeId, book, options } = workspace;
  let designs = 0;
  const forms = new Collection<FormRow>({
    kind: "form",
    idOf: (_, sequence) => `frm_${makeId.hex(`form ${sequence}`)}`,
    missing: { code: "form_not_found" },
    limit: { max: FORM_LIMITS.perWorkspace, code: "workspace_limit_reached" },
  });
  const isSeen =
    ({ member }: Caller) =>
    (form: FormRow): boolean =>
      member === undefined || form.member === member;
  const page = (query: QueryInput<Contract["forms"]["list"]>, caller: Caller): PageBody<FormRow> =>
    forms.page({ list: "forms", filters: [caller.member], where: isSeen(caller), ...query });
  const get = ({ id }: { id: string }, caller: Caller): FormRow => forms.get(id, isSeen(caller));
  const save = (form: FormRow, changes: Partial<Omit<FormRow, keyof CollectionRow>>): FormRow =>
    forms.change(form.id, { ...changes, updatedAt: laterThan(form.updatedAt, book.now()) });
  const fullBody = (form: FormRow): object => ({ ...itemBody(workspace, form), ...contentOf(workspace, form) });

  type Content = Pick<FormRow, "name" | "description" | "document" | "settings">;
  function add(of: Content, { member }: Caller, isLive = false): FormRow {
    const at = book.now();
    return forms.add({
      ...of,
      status: isLive ? "live" : "draft",
      publishedDocument: isLive ? of.document : null,
      publishedAt: isLive ? at : null,
      createdAt: at,
      updatedAt: at,
      member,
    });
  }
  const publish = (form: FormRow): FormRow => {
    const at = laterThan(form.updatedAt, book.now());
    return forms.change(form.id, { status: "live", publishedDocument: form.document, publishedAt: at, updatedAt: at });
  };
  /** Uses one AI action. */
  const designOf = (brief: string): FormDocument => {
    if (options.aiActions === "off") throw new SandboxApiError({ code: "ai_not_configured" });
    if (designs >= options.aiActions) throw new SandboxApiError({ code: "ai_quota_exceeded" });
    designs += 1;
    return designDocument(brief, designs);
  };
  const clear = (): void => {
    forms.clear();
    designs = 0;
  };
  return { forms, page, get, save, fullBody, add, publish, designOf, clear };
}

const STARTER_HANDLERS: Pick<ApiHandlers["forms"], "starters" | "starter"> = {
  starters() {
    const all = Object.entries(STARTERS);
    const data = all.map(([slug, { name, description }]) => ({ object: "form_starter", slug, name, description }));
    return { object: "list", data };
  },
  starter({ params }) {
    const { slug } = params;
    const starter = Object.hasOwn(STARTERS, slug) ? STARTERS[slug] : undefined;
    if (starter !== undefined) return { object: "form_starter", slug, ...starter };
    throw new SandboxApiError({ code: "form_starter_not_found" });
  },
};

type SubscribeCall = ApiCall<Contract["forms"]["subscribe"]>;

/** A sign-up at the page of a form. */
function subscribe(
  forms: Collection<FormRow>,
  signUps: Workspace["signUps"],
  { params, body, nowMs, referer, ip }: SubscribeCall,
): object {
  signUps.posts.take(ip ?? "", 1, nowMs);
  const form = forms.get(params.formId, ({ publishedDocument }) => publishedDocument !== null);
  const { publishedDocument, status, settings, id } = form;
  if (status === "paused" || publishedDocument === null) throw new SandboxApiError({ code: "form_closed" });
  const fields = findWrongAnswers(publishedDocument, body);
  if (fields.length > 0) throw new SandboxApiError({ code: "invalid_form_submission", fields });
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
  return { object: "form_subscription", formId: id, outcome, redirectUrl };
}

function documentOf({ name, document, starter = "blank" }: BodyInput<Contract["forms"]["create"]>): FormDocument {
  if (document !== undefined) return readDocument(document, name);
  const found = Object.hasOwn(STARTERS, starter) ? STARTERS[starter] : undefined;
  if (found !== undefined) return found.document;
  throw new SandboxApiError({ code: "invalid_parameter", param: "starter", message: "No starter has this slug." });
}

function requireVersion({ updatedAt }: FormRow, expected: string | undefined): void {
  if (expected === undefined || expected === updatedAt) return;
  throw new SandboxApiError({ code: "version_conflict" });
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
