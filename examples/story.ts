import type { ServerResponse } from "node:http";
import pc from "picocolors";
import type { SandboxLogEntry } from "pigeonhole/sandbox";

/** Who speaks in a line of the story. */
export type Speaker = "service" | "stranger" | "app" | "handler" | "inbox" | "alarm";

const COLOURS: Record<Speaker, (text: string) => string> = {
  service: pc.magenta,
  stranger: pc.yellow,
  app: pc.cyan,
  handler: pc.green,
  inbox: pc.blue,
  alarm: pc.red,
};

let steps = 0;

/** Begins the next step. */
export function tellStep(title: string): void {
  steps += 1;
  console.log(`\n${pc.bold(`${steps}. ${title}`)}`);
}

/** One line of the story. */
export function tell(speaker: Speaker, text: string): void {
  console.log(`   ${COLOURS[speaker](speaker.padEnd(8))}  ${text}`);
}

/** What the app answers to a delivery, told as it goes out: the handlers need not wait for that. */
export function tellAnswer(res: ServerResponse): void {
  res.once("prefinish", () => {
    const outcome = res.getHeader("x-pigeonhole-outcome");
    const retryAfter = res.getHeader("retry-after");
    const again = retryAfter === undefined ? "" : `, send it again after ${String(retryAfter)} s`;
    tell("app", `answers ${res.statusCode} ${String(outcome)}${again}`);
  });
}

/** What the service does. Attempts that arrive at once are told by the app's answer. */
export function tellService(entry: SandboxLogEntry): void {
  switch (entry.kind) {
    case "event":
      return tell("service", `fires ${entry.type}  ${pc.dim(entry.eventId)}`);
    case "attempt": {
      const { attempt, status, responseCode, error, createdAt, nextAttemptAt } = entry.row;
      if (status === "delivered") {
        if (attempt > 1) tell("service", `attempt ${attempt} was answered ${responseCode}`);
        return;
      }
      const seconds = nextAttemptAt === null ? 0 : (Date.parse(nextAttemptAt) - Date.parse(createdAt)) / 1_000;
      const next = nextAttemptAt === null ? "gives it up" : `tries again in ${Math.round(seconds)} s of its time`;
      return tell("service", `attempt ${attempt} failed (${error ?? "no reason"}), ${next}`);
    }
    case "contact_event":
      return tell("service", `stores the contact event ${entry.name}  ${pc.dim(entry.eventId)}`);
    case "api": {
      const { call, status, code } = entry.call;
      if (call !== "contactEvents.send" && call !== "contactEvents.sendBatch") return;
      if (status === null) return tell("service", "its answer to that gets lost, and the app must ask again");
      // A first one is answered 201; a batch is always answered 200.
      if (call === "contactEvents.send" && status === 200)
        return tell("service", "receives the same idempotency key again and stores nothing");
      if (status >= 400) return tell("service", `refuses the contact event: ${code ?? status}`);
      return;
    }
    case "endpoint":
      if (entry.change === "disabled") tell("service", `switches the endpoint off: ${entry.reason ?? ""}`);
      return;
    case "clock":
      return;
  }
}
