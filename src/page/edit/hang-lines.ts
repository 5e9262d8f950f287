import { RangeSetBuilder } from "@codemirror/state";
import { Decoration, ViewPlugin, type DecorationSet, type EditorView, type ViewUpdate } from "@codemirror/view";

/** Indent of the continuation rows of a long line, in characters; the same as in the tree. */
const HANG = 2;
/** A deep line must keep room for its text in a narrow editor. */
const MAX_HANG = 24;

function hang(view: EditorView): DecorationSet {
  const lines = new RangeSetBuilder<Decoration>();
  for (const { from, to } of view.visibleRanges) {
    for (let at = from; at <= to;) {
      const line = view.state.doc.lineAt(at);
      // Padding does not move tab stops, so a line with tabs is left unchanged.
      const spaces = /^ *(?=[^\s])/.exec(line.text)?.[0].length;
      if (spaces !== undefined) lines.add(line.from, line.from, hanging(Math.min(spaces + HANG, MAX_HANG)));
      at = line.to + 1;
    }
  }
  return lines.finish();
}

function hanging(characters: number): Decoration {
  return Decoration.line({ attributes: { class: "hanging", style: `--hang: ${characters}ch` } });
}

/** A wrapped value continues under its own line and not under its parent's. */
export const hangLines = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;

    constructor(view: EditorView) {
      this.decorations = hang(view);
    }

    update({ docChanged, viewportChanged, view }: ViewUpdate): void {
      if (docChanged || viewportChanged) this.decorations = hang(view);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);
