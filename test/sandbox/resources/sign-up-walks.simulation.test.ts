import * as fc from "fast-check";
import { expect, test } from "vitest";
import { verdict } from "../api/support.js";
import { SECOND } from "../support.js";
import { stepsOf, walkAtRandom } from "./random-walk.js";
import { SUPPORT, openWorld } from "./support.js";

const NEWS = "aud_news";
/** Posts of one network address in ten minutes. */
const MAX_POSTS = 40;
const WINDOW_SECONDS = 600;

/** A form as a plain model sees it. */
interface Form {
  id: string;
  status: "draft" | "live" | "paused";
  doubleOptIn: boolean;
  /** Sign-ups, the oldest first. */
  signUps: { email: string; name: string; outcome: "pending" | "added" }[];
}

const CALLS = ["create", "publish", "pause", "optIn", "copy", "delete"] as const;

const step = fc.record({
  kind: fc.constantFrom(...CALLS, "subscribe", "subscribe", "subscribe", "confirm", "bot", "wrong", "get"),
  at: fc.nat(1),
  n: fc.nat(1),
  name: fc.constantFrom("Ada", "Bob"),
  doubleOptIn: fc.boolean(),
  publish: fc.boolean(),
  seconds: fc.nat(5),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const emailOf = (n: number): string => `a${n}@x.example`;

/** The calls of one walk, each compared with what the model says. */
class SignUpWalk {
  readonly #fired: string[] = [];
  readonly #world = openWorld({
    contacts: [],
    audiences: [{ id: NEWS, name: "News" }],
    onLog: (entry) => {
      if (entry.kind === "event") this.#fired.push(entry.type);
    },
  });
  readonly #forms: Form[] = [];
  /** The contacts by address, with the name of the first sign-up that was added. */
  readonly #contacts = new Map<string, string>();
  /** The confirmation emails. */
  readonly #emails: { id: string; email: string; at: number }[] = [];
  /** When a sign-up was posted, in seconds. */
  #posts: number[] = [];
  #now = 0;

  async take(step: Step): Promise<void> {
    await this.#world.sandbox.advance(step.seconds * SECOND);
    this.#now += step.seconds;
    this.#fired.length = 0;
    const form = this.#forms[step.at];
    if (step.kind === "create") return this.#create(step);
    if (step.kind === "confirm") return this.#confirm(step, form);
    if (step.kind === "subscribe" || step.kind === "bot" || step.kind === "wrong") return this.#post(step, form);
    return this.#manage(step, form);
  }

  async #create({ doubleOptIn, publish }: Step): Promise<void> {
    const settings = { doubleOptIn, audienceIds: [NEWS], senderAddress: SUPPORT };
    const { status, body } = await this.#world.send("POST /forms", {
      body: { name: "News", starter: "newsletter", settings, publish },
    });
    expect(status).toBe(201);
    const form: Form = { id: String(body["id"]), status: publish ? "live" : "draft", doubleOptIn, signUps: [] };
    this.#forms.push(form);
    expect(body).toMatchObject(this.#shown(form));
  }

  #shown({ id, status, doubleOptIn, signUps }: Form): object {
    const added = signUps.filter(({ outcome }) => outcome === "added").length;
    return { id, status, doubleOptIn, stats: { submissions: signUps.length, added, pending: signUps.length - added } };
  }

  async #manage({ kind, doubleOptIn }: Step, form: Form | undefined): Promise<void> {
    const id = form?.id ?? `frm_${"0".repeat(24)}`;
    const calls: Record<string, [line: string, body?: object]> = {
      publish: [`POST /forms/${id}/publish`],
      pause: [`POST /forms/${id}/pause`],
      optIn: [`PATCH /forms/${id}`, { settings: { doubleOptIn } }],
      copy: [`POST /forms/${id}/copy`, {}],
      delete: [`DELETE /forms/${id}`],
      get: [`GET /forms/${id}`],
    };
    const [line, body] = calls[kind] ?? [""];
    const answer = await this.#world.send(line, body === undefined ? {} : { body });
    expect(this.#fired).toEqual([]);
    if (form === undefined) return expect(verdict(answer)).toBe("404 form_not_found");
    if (kind === "publish") form.status = "live";
    if (kind === "pause" && form.status === "live") form.status = "paused";
    if (kind === "optIn") form.doubleOptIn = doubleOptIn;
    if (kind === "delete") {
      this.#forms.splice(this.#forms.indexOf(form), 1);
      return expect(answer.body).toMatchObject({ id, deleted: true });
    }
    if (kind !== "copy") return expect(answer.body).toMatchObject(this.#shown(form));
    const copy: Form = { ...form, id: String(answer.body["id"]), status: "draft", signUps: [] };
    this.#forms.push(copy);
    return expect(answer.body).toMatchObject(this.#shown(copy));
  }

  async #post({ kind, n, name }: Step, form: Form | undefined): Promise<void> {
    const email = emailOf(n);
    const answers = { email: kind === "wrong" ? "nobody" : email.toUpperCase(), name };
    const body = { ...answers, ...(kind === "bot" ? { svc_website: "x" } : {}) };
    const answer = await this.#world.send(`POST /subscribe/${form?.id ?? "none"}`, { key: null, body });
    this.#posts = [...this.#posts.filter((at) => at > this.#now - WINDOW_SECONDS), this.#now];
    const expected = this.#expectedOf(kind, form);
    if (form === undefined || expected !== undefined) {
      expect(verdict(answer)).toBe(expected);
      return expect(this.#fired).toEqual([]);
    }
    const outcome = form.doubleOptIn ? "pending" : "added";
    expect(answer.body).toMatchObject({ formId: form.id, outcome });
    if (kind === "bot") return expect(this.#fired).toEqual([]);
    const waiting = form.signUps.find((one) => one.email === email && one.outcome === "pending");
    const isRepeat = form.doubleOptIn && waiting?.name === name;
    if (form.doubleOptIn && waiting !== undefined) form.signUps.splice(form.signUps.indexOf(waiting), 1);
    form.signUps.push({ email, name, outcome });
    if (outcome === "added") this.#join(email, name);
    else this.#email(form, email);
    return expect(this.#fired).toEqual(isRepeat ? [] : ["form.submitted"]);
  }

  #email({ id }: Form, email: string): void {
    const before = this.#emails.filter((one) => one.email === email);
    if (before.length >= 5 || before.some((one) => one.id === id && one.at > this.#now - WINDOW_SECONDS)) return;
    this.#emails.push({ id, email, at: this.#now });
  }

  /** What a post is refused with; undefined when it is taken. */
  #expectedOf(kind: Step["kind"], form: Form | undefined): string | undefined {
    if (this.#posts.length > MAX_POSTS) return "429 form_rate_limited";
    if (form === undefined || form.status === "draft") return "404 form_not_found";
    if (form.status === "paused") return "409 form_closed";
    return kind === "wrong" ? "422 invalid_form_submission" : undefined;
  }

  #confirm({ n }: Step, form: Form | undefined): void {
    const hasLink = this.#emails.some(({ id, email }) => id === form?.id && email === emailOf(n));
    const found = form?.signUps.find(({ email, outcome }) => email === emailOf(n) && outcome === "pending");
    const waiting = hasLink ? found : undefined;
    const isConfirmed = this.#world.sandbox.confirmSignUp(form?.id ?? "none", emailOf(n).toUpperCase());
    expect([isConfirmed, this.#fired]).toEqual(waiting === undefined ? [false, []] : [true, ["form.confirmed"]]);
    if (waiting === undefined) return;
    waiting.outcome = "added";
    this.#join(waiting.email, waiting.name);
  }

  #join(email: string, name: string): void {
    if (!this.#contacts.has(email)) this.#contacts.set(email, name);
  }

  /** Compares the contacts at the end: those whose sign-up was added, each in the audience of the forms. */
  async end(): Promise<void> {
    const { body } = await this.#world.send("GET /contacts");
    const rows = (body["data"] as { email: string; name: string }[]).map(({ email, name }) => [email, name] as const);
    expect(new Map(rows)).toEqual(this.#contacts);
    for (const email of this.#contacts.keys()) {
      const contact = await this.#world.send(`GET /contacts/${email}`);
      expect(contact.body["audiences"]).toMatchObject([{ builtin: "default" }, { id: NEWS }]);
    }
  }
}

test("a walk over forms and their sign-ups does what a plain model does, and fires the events of it alone", async () => {
  await walkAtRandom(stepsOf(step, 150), 40, async (steps) => {
    const walk = new SignUpWalk();
    for (const one of steps) await walk.take(one);
    await walk.end();
  });
});
