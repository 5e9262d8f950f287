import { shortText } from "../text/format.js";

/** The subject of an event, and after it in grey whose mail it is. */
export function SubjectWords({ subject }: { subject: string }) {
  const [, words = subject, about] = /^(.*) · (.*?)$/.exec(subject) ?? [];
  return (
    <>
      {shortText(words)}
      {about !== undefined && <span class="hint"> · {shortText(about)}</span>}
    </>
  );
}
