import { escapeControls, escapeControlsInLines } from "../../base/text.js";
import { LongText } from "./long-text.js";
import { mailPeople, withoutStyles } from "./mail-parts.js";
import { formatTime } from "../text/format.js";

/** Of the text, beside which the payload is shown. */
const SHOWN = 4_000;

/** Where `data` may have the parts of a mail. The names are assumed, like all of `data`. */
const HEADS = [
  ["From", ["from", "sender"]],
  ["To", ["to", "recipient"]],
  ["Cc", ["cc"]],
  ["Bcc", ["bcc"]],
  ["Date", ["receivedAt", "sentAt", "scheduledAt", "date"]],
] as const;

type Fields = Readonly<Record<string, unknown>>;

/** An `email.*` event as a mail. Nothing for other events, and for those without sender, subject and text. */
export function MailView({ envelope }: { envelope: unknown }) {
  const { type, createdAt, data } = fieldsOf(envelope);
  const mail = fieldsOf(data);
  const { subject, text, html } = mail;
  if (typeof type !== "string" || !type.startsWith("email.")) return null;
  if ([mail["from"], subject, text, html].every((part) => part === undefined)) return null;
  const body = typeof text === "string" ? text : typeof html === "string" ? textOfHtml(html) : "";
  return (
    <details class="mail" open={body !== ""}>
      <summary>Read as a mail</summary>
      <p class="mail-subject">{typeof subject === "string" ? escapeControls(subject) : "No subject"}</p>
      <dl class="fact-list">
        {HEADS.map(([label, names]) => {
          const value = names.map((name) => mailPeople(mail[name])).find((words) => words !== "") ?? "";
          const shown = label === "Date" ? formatTime(value || mailPeople(createdAt)) : value;
          return (
            shown !== "" && (
              <>
                <dt>{label}</dt>
                <dd>{escapeControls(shown)}</dd>
              </>
            )
          );
        })}
      </dl>
      {body !== "" && <LongText key={body} text={escapeControlsInLines(body)} shown={SHOWN} />}
    </details>
  );
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

/** The words of HTML. It is read as a document that is never shown, which loads nothing and runs nothing. */
function textOfHtml(html: string): string {
  // The page's policy refuses styles in it too, and says so for each.
  const { body } = new DOMParser().parseFromString(withoutStyles(html), "text/html");
  for (const hidden of body.querySelectorAll("script, template")) hidden.remove();
  for (const block of body.querySelectorAll("br, p, div, tr, li, h1, h2, h3")) block.append("\n");
  return (body.textContent ?? "").trim();
}
