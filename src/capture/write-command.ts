import { quoteForShell } from "../base/quote-for-shell.js";
import type { Capture, HeaderList } from "./capture.js";
import { bodyText, decodeBody } from "./captured-body.js";

/** What a command sends: the URL, and the headers that are not the client's own. */
export interface WrittenRequest {
  url: string;
  headers: HeaderList;
}

/** A cURL command for a POSIX shell that sends exactly the captured bytes. */
export function writeCurl(capture: Capture, { url, headers }: WrittenRequest): string {
  const { method, body } = capture.request;
  const text = bodyText(body);
  const parts = [
    `curl --globoff --request ${quoteForShell(method)} ${quoteForShell(url)}`,
    // cURL drops a header without a value unless it ends in a semicolon.
    ...headers.map(([name, value]) => `--header ${quoteForShell(value === "" ? `${name};` : `${name}: ${value}`)}`),
  ];
  // An argument cannot hold NUL, and one that is too long is refused by the system.
  if (text !== undefined && !text.includes("\0") && text.length < LONGEST_ARGUMENT) {
    return `${[...parts, `--data-raw ${quoteForShell(text)}`].join(" \\\n  ")}\n`;
  }
  const base64 = Buffer.from(decodeBody(body)).toString("base64");
  const wrapped = base64.replaceAll(/.{1,120}/g, "$&\n");
  return `base64 --decode <<'BODY' | ${[...parts, "--data-binary @-"].join(" \\\n  ")}\n${wrapped}BODY\n`;
}

/** A request for the HTTP clients of editors. */
export function writeHttp(capture: Capture, { url, headers }: WrittenRequest): string {
  const { method, body } = capture.request;
  const text = bodyText(body);
  // Such files know no escapes: an editor may change line ends, put in variables and other files, or read a second request.
  const survives = text !== undefined && !/\r|^###|\n$|^<|\{\{/m.test(text);
  const head = [
    `### ${(capture.event.type ?? "unreadable").replaceAll(/[^\w.-]/g, "?")} ${capture.id}`,
    ...(survives ? [] : ["# This body does not survive in this format; use curl."]),
    `${method} ${url}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  return `${head.join("\n")}\n\n${survives ? text : ""}\n`;
}

/** Linux refuses a single argument over 128 KiB. */
const LONGEST_ARGUMENT = 30_000;
