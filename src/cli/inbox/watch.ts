import { isoTime } from "../../base/iso-time.js";
import { escapeControlsInLines } from "../../base/text.js";
import { describeError } from "../frame/command-error.js";
import type { CommandContext, RunCommand } from "../frame/context.js";
import { EXIT } from "../frame/exit-code.js";
import { type Screen, openScreen } from "../frame/screen.js";
import { withInbox } from "../values/find-inbox.js";
import type { inboxWatch } from "./spec.js";
import { type Look, lookRecord, takeLook } from "./watch-look.js";
import { describeLook, lineOfLook } from "./describe-look.js";

/** A look takes a tenth of the time at most: counting takes long where much waits. */
const SHARE = 9;

/** Where looks go. */
interface LookPrinter {
  show(look: Look): void;
  /** A look that failed after others. */
  fail(code: string, message: string): void;
  close(): void;
}

/** Shows the state of a receiver's database, again and again. */
export const watch: RunCommand<typeof inboxWatch> = ({ options: { db, every, once }, context }) => {
  const { out, signal } = context;
  context.expectInterruption();
  return withInbox(db, context, async (inbox) => {
    const first = await takeLook(inbox, Date.now());
    if (once) {
      out.result(lookRecord(first), describeLook(first, out.paint).join("\n"));
      return EXIT.ok;
    }
    const printer = createPrinter(context);
    try {
      printer.show(first);
      let waitMs = every;
      while (await wasWaited(waitMs, signal)) {
        const begun = performance.now();
        try {
          printer.show(await takeLook(inbox, Date.now()));
        } catch (error) {
          const { code, message, stack } = describeError(error);
          // A bug stays one; a database that is away comes back.
          if (stack !== "") throw error;
          printer.fail(code, message);
        }
        waitMs = Math.max(every, SHARE * (performance.now() - begun));
      }
    } finally {
      printer.close();
    }
    return EXIT.ok;
  });
};

function createPrinter(context: CommandContext): LookPrinter {
  const { out, env, stdout } = context;
  if (out.isTerminal && env["TERM"] !== "dumb") return screenPrinter(openScreen(stdout), context);
  return {
    show: (look) => out.result(lookRecord(look), lineOfLook(look)),
    fail: (code, message) => {
      const at = isoTime(Date.now());
      out.result({ at, error: { code, message } }, `${at}  cannot look: ${message}`);
    },
    close: () => undefined,
  };
}

/** The last view stays on the terminal when it ends. */
function screenPrinter(screen: Screen, { out }: CommandContext): LookPrinter {
  let last: string[] = [];
  return {
    show: (look) => {
      last = describeLook(look, out.paint);
      screen.draw([...last, "", out.paint.dim("Ctrl-C ends")]);
    },
    fail: (_, message) => {
      const lines = escapeControlsInLines(message).split("\n");
      screen.draw([...lines.map((line) => out.paint.red(line)), "", ...last.map((line) => out.paint.dim(line))]);
    },
    close: () => {
      screen.close();
      out.result({}, last.join("\n"));
    },
  };
}

/** False as soon as the command is to end. */
function wasWaited(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve(!signal.aborted);
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end, { once: true });
  });
}
