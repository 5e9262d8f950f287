import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../base/clock.js";
import { FORM_LIMITS } from "../../contract/form.js";
import { SECOND } from "../../base/duration.js";
import type { EventType } from "../../protocol/event-types.js";
import { SandboxApiError } from "../api/api-handlers.js";
import type { AddressBook } from "./address-book.js";
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
  readonly #input: SignUpsInput;
  #submissions: Submission[] = [];
  #posts: number[] = [];

  constructor(input: SignUpsInput) {
    this.#input = input;
  }

  /** Counts a post to any form. Throws 429 `form_rate_limited`: all calls come from one network address here. */
  countPost(nowMs: number): void {
    const since = nowMs - FORM_LIMITS.signUpWindowMs;
    this.#posts = [...this.#posts.filter((atMs) => atMs > since && atMs <= nowMs), nowMs];
    if (this.#posts.length <= FORM_LIMITS.signUps) return;
    // The next post is one of the window too, so this one must have left it.
    const leavesFirst = this.#posts.at(-FORM_LIMITS.signUps) ?? nowMs;
    const retryAfter = Math.ceil((leavesFirst - since) / SECOND);
    throw new SandboxApiError({
      code: "form_rate_limited",
      message: "Too many sign-ups from this network address.",
      headers: { "retry-after": String(Math.max(1, retryAfter)) },
    });
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
    if (!isSame) this.#input.fire("form.submitted", submission);
    return outcome;
  }

  /** What opening the link of the confirmation email does. False when no sign-up waits for it. */
  confirm(formId: string, email: string): boolean {
    const waiting = this.#findWaiting(formId, foldAddress(email));
    if (waiting === undefined) return false;
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
    if (formId === undefined) this.#posts = [];
  }

  #findWaiting(formId: string, email: string): Submission | undefined {
    return this.#submissions.find((one) => one.formId === formId && one.email === email && one.outcome === "pending");
  }

  #join({ email, audienceIds, answers }: Submission): void {
    this.#input.book.signUp(email, { audienceIds, name: answers["name"] });
  }
}
