import { SECOND } from "../../base/duration.js";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 80;

/**
 * Shows that something is going on, until the result is called: an animated line in a terminal, a single line
 * elsewhere. Not the spinner of @clack/prompts: it ends the process at Ctrl-C, which would leave a half-made folder.
 */
export function showActivity(what: string, stream: NodeJS.WriteStream): (() => void) | undefined {
  if (!stream.isTTY) {
    stream.write(`${what} …\n`);
    return undefined;
  }
  const since = Date.now();
  let frame = 0;
  const draw = (): void => {
    frame = (frame + 1) % FRAMES.length;
    const seconds = Math.floor((Date.now() - since) / SECOND);
    stream.write(`\r\u001b[2K${FRAMES[frame] ?? ""} ${what}  ${seconds} s`);
  };
  const timer = setInterval(draw, FRAME_MS);
  draw();
  return () => {
    clearInterval(timer);
    stream.write("\r\u001b[2K");
  };
}
