import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../base/clock.js";
import { FORM_LIMITS } from "../../contract/forms.js";
import { DAY } from "../../base/duration.js";
import type { EventType } from "../../protocol/event-types.js";
import { SlidingLimit } from "../api/sliding-limit.js";
import type { AddressBook } from "../contact-events/address-book.js";
import { foldAddress } from "../../contract/contact-address.js";

/** What a sign-up needs of its form. */
export interface SignUpForm {
  id: string;
  name: string;
  settings: { audienceIds: readonly string[]; doubleOptIn: boolean };
}

interface Submission {
  formId: string;
  formName: string;
  email: string;
  answers: Readonly<Record<string, unknown>>;
  audienceIds: readonly string[];
  doubleOptIn: boolean;
  source: string | null;
  outcome: "pending" | "added";
  submittedAt: string;
}

interface SignUpsInput {
  book: AddressBook;
  clock: Clock;
  fire: (type: EventType, data: object) => void;
}

/** The sign-ups to the forms of a workspace. See docs/service.md#sign-ups. */
export class SignUps {
  /** The posts to any form, by network address. */
  readonly posts = new SlidingLimit({
    max: FORM_LIMITS.signUps,
    windowMs: FORM_LIMITS.windowMs,
    code: "form_rate_limited",
    message: "Too many sign-ups from this network address.",
    countsRefused: true,
  });
  readonly #input: SignUpsInput;
  #submissions: Submission[] = [];
  /** The confirmation emails by address. */
  readonly #emails = new Map<string, { formId: string; atMs: number }[]>();

  constructor(input: SignUpsInput) {
    this.#input = input;
  }

  /** Stores a sign-up whose answers were checked, and says what becomes of it. */
  submit(form: SignUpForm, answers: Readonly<Record<string, unknown>>, source: string | null): "pending" | "added" {
    const email = foldAddress(String(answers["email"]));
    const { audienceIds, doubleOptIn } = form.settings;
    const outcome = doubleOptIn ? "pending" : "added";
    const submission: Submission = {
      formId: form.id,
      formName: form.name,
      email,
      answers: { ...answers, email },
      audienceIds,
      doubleOptIn,
      source,
      outcome,
      submittedAt: this.#input.book.now(),
    };
    const waiting = doubleOptIn ? this.#findWaiting(form.id, email) : undefined;
    const isSame = isDeepStrictEqual(waiting?.answers, submission.answers);
    this.#submissions = [...this.#submissions.filter((other) => other !== waiting), submission];
    if (outcome === "added") this.#join(submission);
    else this.#emailLink(form.id, email);
    if (!isSame) this.#input.fire("form.submitted", submission);
    return outcome;
  }

  /** What opening the link of the confirmation email does. False when no sign-up waits for it, or none was sent. */
  confirm(formId: string, email: string): boolean {
    const waiting = this.#findWaiting(formId, foldAddress(email));
    if (waiting === undefined || !this.#emails.get(waiting.email)?.some((one) => one.formId === formId)) return false;
    waiting.outcome = "added";
    this.#join(waiting);
    this.#input.fire("form.confirmed", { ...waiting, confirmedAt: this.#input.book.now() });
    return true;
  }

  statsOf(formId: string): object {
    const all = this.#submissions.filter((one) => one.formId === formId);
    const added = all.filter(({ outcome }) => outcome === "added").length;
    const lastSubmittedAt = all.at(-1)?.submittedAt ?? null;
    return { views: 0, submissions: all.length, added, pending: all.length - added, lastSubmittedAt };
  }

  /** Forgets the sign-ups of a form, or all. */
  clear(formId?: string): void {
    this.#submissions = formId === undefined ? [] : this.#submissions.filter((one) => one.formId !== formId);
    if (formId !== undefined) return;
    this.posts.reset();
    this.#emails.clear();
  }

  /** Emails a link, unless the form did a short time ago or the workspace has sent the address enough that day. */
  #emailLink(formId: string, email: string): void {
    const [atMs, sent] = [this.#input.clock.now(), this.#emails.get(email) ?? []];
    const today = sent.filter((one) => Math.floor(one.atMs / DAY) === Math.floor(atMs / DAY));
    const isRecent = sent.some((one) => one.formId === formId && one.atMs > atMs - FORM_LIMITS.windowMs);
    if (!isRecent && today.length < FORM_LIMITS.emailsPerDay) this.#emails.set(email, [...sent, { formId, atMs }]);
  }

  #findWaiting(formId: string, email: string): Submission | undefined {
    return this.#submissions.find((one) => one.formId === formId && one.email === email && one.outcome === "pending");
  }

  #join({ email, audienceIds, answers }: Submission): void {
    this.#input.book.signUp(email, { audienceIds, name: answers["name"] });
  }
}
