const WIDTH = 24;

/** A progress bar on standard error, for a terminal only. */
export interface Progress {
  step(): void;
  /** Removes the bar, so that a line can be printed in its place. */
  clear(): void;
}

/** `label` is shown before the bar. Without a terminal nothing is drawn. */
export function createProgress(label: string, total: number, stream: NodeJS.WriteStream): Progress {
  let done = 0;
  let drawnAt = 0;
  const draw = (): void => {
    const filled = Math.floor((done / total) * WIDTH);
    stream.write(`\r${label} ${"█".repeat(filled)}${"░".repeat(WIDTH - filled)} ${done}/${total}`);
  };
  return {
    step() {
      done += 1;
      const now = Date.now();
      if (!stream.isTTY || (now - drawnAt < 50 && done < total)) return;
      drawnAt = now;
      draw();
    },
    clear() {
      if (stream.isTTY) stream.write("\r\u001b[2K");
    },
  };
}
