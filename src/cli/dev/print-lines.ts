import type { DevEvent, Report } from "../../dev/lines/dev-event.js";
import type { DevSandbox } from "../../dev/sandbox/dev-sandbox.js";
import { formatJsonLine } from "../../dev/lines/dev-event.js";
import type { Tone } from "../../dev/lines/event-line.js";
import { createLineWriter } from "../../dev/lines/line-writer.js";
import type { SandboxLogEntry } from "../../sandbox/log-entry.js";
import type { CommandContext } from "../frame/context.js";
import type { Output, Paint } from "../frame/output.js";
import { formatSandboxEntry } from "../values/format-sandbox-entry.js";
import { failureIn, formatAppLine } from "./format-app-line.js";

type HandlerFailure = Extract<DevEvent, { kind: "handler_failed" }>;

/** The programs that print in one terminal. */
type Source = "app" | "dev" | "sandbox";

const MARK_WIDTH = "sandbox │ ".length;

/** Everything that dev prints, as lines of one style: `source │ line` where an app or a sandbox is started. */
export interface DevLines {
  /** For the remarks of dev itself. */
  readonly out: Output;
  /** For the events of the dev server. `inboxFlag` as for the line writer. */
  readonly createReport: (inboxFlag: () => string | undefined) => Report;
  readonly app: (line: string) => void;
  readonly sandbox: (entry: SandboxLogEntry, running: DevSandbox) => void;
}

export function createDevLines({ out: plain, stdout }: CommandContext, hasSources: boolean): DevLines {
  const { isJson, isTerminal, paint } = plain;
  const from = (source: Source): Output => (hasSources ? withSource(plain, source) : plain);
  const [out, app, sandbox] = [from("dev"), from("app"), from("sandbox")];
  const columns = (): number | undefined =>
    isTerminal ? (stdout.columns ?? 0) - (hasSources ? MARK_WIDTH : 0) : undefined;
  const now = (): string => new Date().toISOString();
  const [told, advised] = [new Set<string>(), new Set<string>()];
  const printApp = (line: string): void => {
    told.add(failureIn(line) ?? "");
    app.result({ at: now(), kind: "app_output", line }, formatAppLine(line, paint));
  };
  /** Without the failure if the app has printed it, and with the advice once for each handler. */
  const printFailure = ({ eventId, handler, attempts, state }: HandlerFailure, [line = "", ...advice]: string[]) => {
    const isAdvised = advised.has(`${handler} ${state}`);
    advised.add(`${handler} ${state}`);
    const isTold = told.delete(`${eventId} ${handler} ${attempts}`);
    for (const each of [...(isTold ? [] : [line]), ...(isAdvised ? [] : advice)]) out.result({}, each);
  };
  return {
    out,
    createReport(inboxFlag) {
      const writer = createLineWriter({
        paint: (tone, text) => paintTone(paint, tone, text),
        columns,
        get inboxFlag() {
          return inboxFlag();
        },
      });
      return (event) => {
        if (isJson) plain.raw(`${formatJsonLine(event)}\n`);
        else if (event.kind === "handler_failed") printFailure(event, writer.write(event));
        else for (const line of writer.write(event)) out.result({}, line);
      };
    },
    app: printApp,
    sandbox(entry, { service, endpointId }) {
      // The line of the dev server has the advice on what it forwarded.
      const [endpoints, allBy] = [service.endpoints.list(), "--with-sandbox"];
      const present = { endpoints, allBy, pathBy: pathByUpdate, advisedEndpoint: endpointId };
      sandbox.result({ at: now(), kind: "sandbox", entry }, formatSandboxEntry(entry, paint, present));
    },
  };
}

/** Another endpoint than that of the dev server was made through the API, so that can change it too. */
function pathByUpdate(endpointId: string): string {
  return `pigeonhole api webhooks.update ${endpointId} --body '{"url":"http://127.0.0.1:3000/hooks"}'`;
}

function withSource(out: Output, source: Source): Output {
  const mark = out.paint.dim(`${source.padEnd("sandbox".length)} │`);
  const marked = (text: string): string =>
    text
      .trimEnd()
      .split("\n")
      .map((line) => `${mark} ${line}`)
      .join("\n");
  return {
    ...out,
    result: (record, text) => out.result(record, marked(text)),
    note: (text) => out.note(marked(text)),
  };
}

function paintTone({ green, red, yellow, dim, bold }: Paint, tone: Tone, text: string): string {
  return { good: green, bad: red, warn: yellow, dim, strong: bold, plain: String }[tone](text);
}
