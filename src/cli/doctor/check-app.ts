import { randomBytes } from "node:crypto";
import { describeAnswer } from "../../capture/model/answer.js";
import { answerAdvice, seenAnswer } from "../../capture/model/answer-advice.js";
import { headerListReader, type NamedSecret } from "../../capture/model/judge-signature.js";
import { type SendResult, sendRequest } from "../../capture/send/send-request.js";
import { OUTCOME_HEADER } from "../../protocol/outcome.js";
import { isRetryableStatus } from "../../protocol/retry-schedule.js";
import { makeSecret } from "../../protocol/secret.js";
import { signHere } from "../../protocol/sign-here.js";
import { sampleTestEvent } from "../../sandbox/samples/sample-event.js";
import { type CheckResult, checksNamed } from "../frame/check-result.js";

export interface AppCheckInput {
  url: string;
  /** The secret to sign with; undefined if none was found. */
  secret: NamedSecret | undefined;
  allowRemote: boolean;
  signal: AbortSignal;
}

/** Posts one signed test delivery and reads the answer: reachable, verified, and not read by another parser first. */
export async function* checkApp({ url, secret, allowRemote, signal }: AppCheckInput): AsyncGenerator<CheckResult> {
  const post = (body: string, signature: Record<string, string>): Promise<SendResult> =>
    sendRequest({
      url,
      method: "POST",
      headers: [["Content-Type", "application/json"], ...Object.entries(signature)],
      body: Buffer.from(body),
      allowRemote,
      signal,
    });
  const at = new Date().toISOString();
  const body = JSON.stringify({ ...sampleTestEvent({ seed: randomBytes(8).toString("hex") }), createdAt: at });
  // Unsigned, it still shows whether the app answers.
  const answer = await post(body, secret === undefined ? {} : signHere({ body, secret: secret.value }));
  const { status, ms, error } = answer;
  const [app, { skip }] = [checksNamed("app"), checksNamed("delivery")];
  if (status === null) {
    yield app.fail(error ?? "The app gave no answer.", "Start the app, and give --app the URL of its webhook route.");
    return void (yield skip("Not tried: the app gave no answer."));
  }
  yield app.pass(`The app answers (${ms} ms).`);
  if (secret === undefined) return void (yield skip("Not tried: there is no secret to sign with."));
  const delivery = judgeDelivery({ ...answer, status, at, target: url }, secret);
  yield delivery;
  // If even a small test delivery fails, its own result says what to do.
  if (delivery.status !== "pass") return;
  // Signed with an unknown secret: the receiver reads, refuses and does not store them.
  for (const { name, what, body: probe } of PROBES) {
    yield judgeProbe(name, what, await post(probe, signHere({ body: probe, secret: makeSecret() })));
  }
}

/** What to do after outcomes of a receiver of which other commands say nothing. */
const FIXES: Readonly<Record<string, string>> = {
  unreadable: "Look for a proxy that rewrites the signature header, and for the option signature of createReceiver.",
  unsigned: "Look for a proxy or a middleware that drops or renames the signature header.",
  not_accepting: "The receiver has the role work: send deliveries to a process with the role accept or both.",
  store_unavailable: "Look for a full disk or a locked file; the app's log has SQLite's code.",
};

function judgeDelivery(answer: Parameters<typeof seenAnswer>[0], secret: NamedSecret): CheckResult {
  const { pass, warn, fail } = checksNamed("delivery");
  const seen = seenAnswer(answer);
  const { status, outcome } = seen;
  const what = describeAnswer(seen);
  if (outcome === "accepted" || outcome === "duplicate") {
    return pass(`A signed test delivery was accepted (${what}): secret, clock and raw body are right.`);
  }
  const advice = answerAdvice({ ...seen, isSigned: true, secretRef: secret.ref, pathFlag: "--app 3000/hooks" });
  const fix = advice ?? FIXES[outcome ?? ""] ?? "The app's log names the cause.";
  if (outcome !== null) return fail(`The receiver answered ${what}.`, fix);
  const report = (status ?? 0) < 300 ? warn : fail;
  return report(`The app answered ${what}, and not through a receiver of this package.`, fix);
}

const ABOVE = "Mount receiver.middleware() above every body parser, or limit the parsers to other paths.";

/** What is posted, and how the result describes it. The parsers of Express refuse above 100 kB by default. */
const PROBES: readonly { name: string; what: string; body: string }[] = [
  {
    name: "large body",
    what: "a delivery of 150 kB",
    body: JSON.stringify({ probe: "pigeonhole doctor", filler: "x".repeat(150_000) }),
  },
  { name: "not JSON", what: "a delivery that is not JSON", body: "pigeonhole doctor" },
];

/** Outcomes after the body was read: the receiver got the bytes and did not know the secret. */
const READ: ReadonlySet<string | undefined> = new Set(["unverified", "secrets_unavailable"]);

function judgeProbe(name: string, what: string, { status, headers, error }: SendResult): CheckResult {
  const { pass, fail } = checksNamed(name);
  const outcome = headerListReader(headers)(OUTCOME_HEADER);
  if (READ.has(outcome)) return pass(`The bytes of ${what} reach the receiver.`);
  if (status === null) return fail(`The app gave no answer to ${what}: ${error ?? "it ended the connection"}.`, ABOVE);
  if (outcome === "too_large") {
    return fail(`The receiver refuses ${what} (${status}), which is final.`, "Raise maxBodyBytes of createReceiver.");
  }
  if (outcome !== undefined) return fail(`The receiver answered ${status} ${outcome} to ${what}.`, ABOVE);
  const loss = isRetryableStatus(status) ? "" : ", which is final: the event would be lost";
  return fail(
    `Something in front of the receiver answered ${status} to ${what}${loss}.`,
    `${ABOVE} express.json() refuses above 100 kB and anything that is not JSON, express.raw() above 100 kB: even with a verify hook.`,
  );
}
