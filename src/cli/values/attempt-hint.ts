/** The result of the service's attempt, from its delivery log. */
export interface EndedAttempt {
  responseCode: number | null;
  error: string | null;
}

/**
 * The likely cause of a failed attempt, and what to do about it. See docs/service.md#final-answers: which answers are
 * final.
 */
export function attemptHint({ responseCode, error }: EndedAttempt): string {
  if (responseCode === null) return noAnswerHint(error ?? "");
  if (responseCode >= 300 && responseCode < 400) {
    return "The service follows no redirect. Give it the last address with api webhooks.update <id>.";
  }
  if (responseCode === 503) {
    return "The app is starting or stopping, or it has another secret than this endpoint, as after a rotation; its log says which.";
  }
  if (responseCode >= 500) return "The app failed, or a proxy could not reach it; its log says why.";
  return HINTS[responseCode] ?? "The app's log says why.";
}

const REFUSED =
  "The app, or a login in front of it, refused the signature. Give the app this endpoint's secret; endpoints rotate-secret makes a new one.";
const HINTS: Readonly<Record<number, string>> = {
  401: REFUSED,
  403: REFUSED,
  404: "Nothing is at the path of the endpoint's URL. Compare it with the path at which the app receives deliveries; api webhooks.update <id> changes it.",
  405: "The path of the endpoint's URL takes no POST. api webhooks.update <id> changes it.",
  410: "410 switches the endpoint off. Once the app answers otherwise, api webhooks.update <id> --body '{\"enabled\":true}' switches it on.",
  413: "A limit on bodies, in the app or in a proxy, is too low.",
};

function noAnswerHint(error: string): string {
  return /time|within/i.test(error)
    ? "The app took longer than the 5 s that the service waits. It should answer first and work afterwards, as a receiver does."
    : "The service did not reach the app. Does the app run, and does the endpoint's URL lead to it from outside?";
}
