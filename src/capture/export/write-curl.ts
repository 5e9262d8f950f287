import { quoteForShell } from "../../base/text.js";
import { answerHead, describeAnswer } from "../model/answer.js";
import type { Capture, HeaderList } from "../model/capture.js";
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
  const head = remarksOn(capture);
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

/** Linux refuses a single argument over 128 KiB. */
const MAX_ARGUMENT_LENGTH = 30_000;

/** Comments. Their text is of an app or a file, and must not end one. */
function remarksOn({ attempts, redaction }: Capture): string {
  const last = attempts.at(-1);
  const answer = last && `# Last answer: ${describeAnswer(answerHead(last)).replaceAll(/[^\w .-]/g, "?")}\n`;
  const profile = redaction?.replaceAll(/[^\w-]/g, "?").slice(0, 40);
  return `${answer ?? ""}${profile === undefined ? "" : `# Redacted: ${profile}\n`}`;
}
