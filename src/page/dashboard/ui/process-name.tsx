import { now } from "../../state/now.js";
import { shortText } from "../../ui/short-text.js";

/** Host and number of a process by its opaque name, which is shown for one that has gone. */
export function ProcessName({ process }: { process: string }) {
  const known = now.value?.processes.find((each) => each.process === process);
  return (
    <code title={process}>{known === undefined ? shortText(process) : shortText(`${known.host}:${known.pid}`)}</code>
  );
}
