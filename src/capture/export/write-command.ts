import { quoteForShell } from "../../base/text.js";
import type { Capture, HeaderList } from "../model/capture.js";
import { describeLastAnswer } from "./describe-last-answer.js";
import { describeRedaction } from "./describe-redaction.js";
import { bodyText, decodeBody } from "../model/captured-body.js";

/** What a command sends: the URL, and the headers that the client does not set itself. */
export interface WrittenRequest {
  url: string;
  headers: HeaderList;
}

/** A cURL command for a POSIX shell that sends exactly the captured bytes. */
export function writeCurl(capture: Capture, { url, headers }: WrittenRequest): string {
  const { method, body } = capture.request;
  const text = bodyText(body);
  const head = remarksOn(capture)
    .map((line) => `${line}\n`)
    .join("");
  const parts = [
    `curl --globoff --request ${quoteForShell(method)} ${quoteForShell(url)}`,
    // cURL drops a header without a value unless it ends in a semicolon.
    ...headers.map(([name, value]) => `--header ${quoteForShell(value === "" ? `${name};` : `${name}: ${value}`)}`),
  ];
  // An argument cannot contain NUL, and the system refuses one that is too long.
  if (text !== undefined && !text.includes("\0") && text.length < MAX_ARGUMENT_LENGTH) {
    return `${head}${[...parts, `--data-raw ${quoteForShell(text)}`].join(" \\\n  ")}\n`;
  }
  const base64 = Buffer.from(decodeBody(body)).toString("base64");
  const wrapped = base64.replaceAll(/.{1,120}/g, "$&\n");
  return `${head}base64 --decode <<'BODY' | ${[...parts, "--data-binary @-"].join(" \\\n  ")}\n${wrapped}BODY\n`;
}

/** A request for the HTTP clients of editors. */
export function writeHttp(capture: Capture, { url, headers }: WrittenRequest): string {
  const { method, body } = capture.request;
  const text = bodyText(body);
  // Such files have no escapes: an editor may change line ends, insert variables and other files, or read a second
  // request.
  const survives = text !== undefined && !/\r|^###|\n$|^<|\{\{/m.test(text);
  const head = [
    `### ${(capture.event.type ?? "unreadable").replaceAll(/[^\w.-]/g, "?")} ${capture.id}`,
    ...remarksOn(capture),
    ...(survives ? [] : ["# This format cannot represent the body; use curl."]),
    `${method} ${url}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  return `${head.join("\n")}\n\n${survives ? text : ""}\n`;
}

/** Lines that both formats take as comments. */
function remarksOn(capture: Capture): string[] {
  return [describeLastAnswer(capture), describeRedaction(capture)]
    .filter((text) => text !== "")
    .map((text) => `# ${text}`);
}

/** Linux refuses a single argument over 128 KiB. */
const MAX_ARGUMENT_LENGTH = 30_000;
