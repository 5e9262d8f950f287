import { syntaxTree } from "@codemirror/language";
import { RangeSetBuilder } from "@codemirror/state";
import { Decoration, ViewPlugin, type DecorationSet, type EditorView, type ViewUpdate } from "@codemirror/view";

/** Parts of JSON and the classes that colour them, the same as in the tree. */
const MARKS: Record<string, Decoration> = {
  PropertyName: Decoration.mark({ class: "json-name" }),
  String: Decoration.mark({ class: "json-value string" }),
  Number: Decoration.mark({ class: "json-value number" }),
  True: Decoration.mark({ class: "json-value boolean" }),
  False: Decoration.mark({ class: "json-value boolean" }),
  Null: Decoration.mark({ class: "json-value null" }),
};

function colour(view: EditorView): DecorationSet {
  const marks = new RangeSetBuilder<Decoration>();
  for (const { from, to } of view.visibleRanges) {
    syntaxTree(view.state).iterate({
      from,
      to,
      enter({ name, from: start, to: end }) {
        const mark = MARKS[name];
        if (mark !== undefined) marks.add(start, end, mark);
      },
    });
  }
  return marks.finish();
}

/** Colours by class, so that light and dark follow the page's own style sheet. */
export const colourJson = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;

    constructor(view: EditorView) {
      this.decorations = colour(view);
    }

    update(update: ViewUpdate): void {
      if (update.docChanged || update.viewportChanged || syntaxTree(update.startState) !== syntaxTree(update.state)) {
        this.decorations = colour(update.view);
      }
    }
  },
  { decorations: (plugin) => plugin.decorations },
);
