/** A second screen of the terminal, without a cursor and without line breaks of its own. */
const ENTER = "\u001b[?1049h\u001b[?25l\u001b[?7l";
const LEAVE = "\u001b[?7h\u001b[?25h\u001b[?1049l";
const HOME = "\u001b[H";
const CLEAR_LINE_END = "\u001b[K";
const CLEAR_BELOW = "\u001b[J";

/** What a screen needs of a terminal. */
export interface ScreenStream {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): boolean;
  on(event: "resize", listener: () => void): unknown;
  off(event: "resize", listener: () => void): unknown;
}

/** A view that is drawn again and again in the same place. */
export interface Screen {
  /** Replaces what is shown. Lines that are too long or too many are cut. */
  draw(lines: readonly string[]): void;
  /** Shows the terminal as it was before. */
  close(): void;
}

/** Takes over a terminal. Given back by `close`, and also when the process ends without it. */
export function openScreen(stream: ScreenStream): Screen {
  let shown: readonly string[] = [];
  const redraw = (): void => void stream.write(frameOf(shown, stream));
  const leave = (): void => void stream.write(LEAVE);
  stream.write(ENTER);
  stream.on("resize", redraw);
  process.once("exit", leave);
  return {
    draw(lines) {
      shown = lines;
      redraw();
    },
    close() {
      stream.off("resize", redraw);
      process.off("exit", leave);
      leave();
    },
  };
}

/** A terminal without a size says 0. */
function frameOf(lines: readonly string[], { columns, rows }: ScreenStream): string {
  const [width, height] = [columns || 80, rows || 24];
  const fitting =
    lines.length <= height ? lines : [...lines.slice(0, height - 1), `… ${lines.length - height + 1} more`];
  const drawn = fitting.map((line) => `${cutLine(line, width - 1)}${CLEAR_LINE_END}`);
  return `${HOME}${drawn.join("\r\n")}${CLEAR_BELOW}`;
}

/** A colour that the program itself has written: other control characters were escaped. */
// oxlint-disable-next-line no-control-regex -- a colour begins with the control character ESC
const COLOUR = /(\u001b\[\d+m)/;

/** The begin of a line, in so many characters; its colours end as they would. */
export function cutLine(line: string, width: number): string {
  const pieces = line.split(COLOUR);
  const lengthOf = (piece: string): number => (COLOUR.test(piece) ? 0 : Array.from(piece).length);
  if (pieces.reduce((sum, piece) => sum + lengthOf(piece), 0) <= width) return line;
  let left = Math.max(0, width - 1);
  let isCut = false;
  return pieces
    .map((piece) => {
      if (COLOUR.test(piece)) return piece;
      const characters = Array.from(piece);
      const kept = characters.slice(0, left).join("");
      left -= Math.min(left, characters.length);
      if (isCut || kept.length === piece.length) return kept;
      isCut = true;
      return `${kept}…`;
    })
    .join("");
}
