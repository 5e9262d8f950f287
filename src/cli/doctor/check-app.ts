import { randomBytes } from "node:crypto";
import { headerListReader, type NamedSecret } from "../../capture/model/judge-signature.js";
import { type SendResult, sendRequest } from "../../capture/send/send-request.js";
import { OUTCOME_HEADER } from "../../protocol/outcome.js";
import { signHere } from "../../protocol/sign-here.js";
import { sampleTestEvent } from "../../sandbox/samples/sample-event.js";
import { type PostToApp, checkParsers } from "./check-parsers.js";
import { type CheckResult, fail, pass, skip, warn } from "../frame/check-result.js";

export interface AppCheckInput {
  url: string;
  /** The secret to sign with; undefined if none was found. */
  secret: NamedSecret | undefined;
  allowRemote: boolean;
  signal: AbortSignal;
}

/** Posts one signed test delivery and reads the answer: reachable, verified, and not read by another parser first. */
export async function checkApp({ url, secret, allowRemote, signal }: AppCheckInput): Promise<CheckResult[]> {
  const post: PostToApp = (body, signature) =>
    sendRequest({
      url,
      method: "POST",
      headers: [["Content-Type", "application/json"], ...Object.entries(signature)],
      body: Buffer.from(body),
      allowRemote,
      signal,
    });
  const event = { ...sampleTestEvent({ seed: randomBytes(8).toString("hex") }), createdAt: new Date().toISOString() };
  const body = JSON.stringify(event);
  // Unsigned, it still shows whether the app answers.
  const signature = secret === undefined ? {} : signHere({ body, secret: secret.value });
  const answer = await post(body, signature);
  const { status } = answer;
  if (status === null) return [unreachable(answer), skip("delivery", "Not tried: the app gave no answer.")];
  const reached = pass("app", `The app answers (${answer.ms} ms).`);
  if (secret === undefined) return [reached, skip("delivery", "Not tried: there is no secret to sign with.")];
  const outcome = headerListReader(answer.headers)(OUTCOME_HEADER);
  const delivery = outcome === undefined ? judgeOther(status) : judgeOutcome(outcome, status);
  // If even a small test delivery fails, its own result says what to do.
  return [reached, delivery, ...(delivery.status === "pass" ? await checkParsers(post) : [])];
}

function unreachable({ error }: SendResult): CheckResult {
  return fail("app", error ?? "The app gave no answer.", "Start the app, and give --app the URL of its webhook route.");
}

/** What each outcome of a receiver means for its setup. */
const REMEDIES: Record<string, { message: string; fix: string }> = {
  body_consumed: {
    message: "A body parser reads the delivery before the receiver, so the signed bytes are gone.",
    fix: "Mount receiver.middleware() above express.json(), or limit the parser to other paths.",
  },
  unverified: {
    message: "The receiver does not know this secret, or its clock differs.",
    fix: "Give doctor and the app the same secret: the whole string of this endpoint, with whsec_.",
  },
  unreadable: {
    message: "The signature header reached the receiver in a form that it cannot read.",
    fix: "Look for a proxy that rewrites headers, and for the option signature of createReceiver.",
  },
  unsigned: {
    message: "The signature header did not reach the receiver.",
    fix: "Look for a proxy or a middleware that drops or renames headers.",
  },
  not_started: {
    message: "The receiver is mounted and was not started.",
    fix: "Await receiver.start() before the app listens.",
  },
  not_accepting: {
    message: "The receiver has the role work, which takes no deliveries.",
    fix: "Send deliveries to a process with the role accept or both.",
  },
  stopping: { message: "The receiver is stopping.", fix: "Start the app again." },
  store_unavailable: {
    message: "The receiver cannot write its database.",
    fix: "Look for a full disk or a locked file; the app's log has SQLite's code.",
  },
  wrong_method: { message: "The receiver did not get a POST.", fix: "Look for a redirect in front of the app." },
};

function judgeOutcome(outcome: string, status: number): CheckResult {
  if (outcome === "accepted" || outcome === "duplicate") {
    return pass(
      "delivery",
      `A signed test delivery was accepted (${status} ${outcome}): secret, clock and raw body are right.`,
    );
  }
  const { message, fix } = REMEDIES[outcome] ?? {
    message: `The receiver answered ${status} ${outcome}.`,
    fix: "The app's log names the cause.",
  };
  return fail("delivery", message, fix);
}

/** An answer that no receiver of this package gave. */
function judgeOther(status: number): CheckResult {
  if (status === 404 || status === 405) {
    return fail(
      "delivery",
      `The app has no POST route there (${status}).`,
      "Give --app the whole URL with the path of the receiver.",
    );
  }
  if (status >= 300 && status < 400) {
    return fail(
      "delivery",
      `The app redirects (${status}), which the service counts as failed.`,
      "Give the final URL.",
    );
  }
  if (status < 300) {
    return warn(
      "delivery",
      `The app answered ${status}, and not through a receiver of this package.`,
      "Check whether another route or a middleware answers first.",
    );
  }
  return fail(
    "delivery",
    `The app answered ${status} before the receiver was reached.`,
    "Often express.json() or another middleware refuses first; mount the receiver above it.",
  );
}
