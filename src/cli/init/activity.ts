import { SECOND } from "../../base/duration.js";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 80;
const MAX_DETAIL_LENGTH = 50;

/** Shows that something is going on. */
export interface Activity {
  /** The present step, such as a line of the running program. */
  detail(text: string): void;
  /** Ends it and leaves nothing on the screen. */
  end(): void;
}

/**
 * An animated line in a terminal, a single line elsewhere. Not the spinner of @clack/prompts: it ends the process at
 * Ctrl-C, which would leave a half-made folder.
 */
export function startActivity(what: string, stream: NodeJS.WriteStream): Activity {
  if (!stream.isTTY) {
    stream.write(`${what} …\n`);
    return { detail: () => undefined, end: () => undefined };
  }
  const since = Date.now();
  let frame = 0;
  let detail = "";
  const draw = (): void => {
    frame = (frame + 1) % FRAMES.length;
    const seconds = Math.floor((Date.now() - since) / SECOND);
    stream.write(`\r\u001b[2K${FRAMES[frame] ?? ""} ${what}  ${seconds} s  ${detail}`);
  };
  const timer = setInterval(draw, FRAME_MS);
  draw();
  return {
    detail(text) {
      // Text of another program must not move the cursor.
      detail = text.replaceAll(/[^\x20-\x7e]/g, "").slice(0, MAX_DETAIL_LENGTH);
    },
    end() {
      clearInterval(timer);
      stream.write("\r\u001b[2K");
    },
  };
}
