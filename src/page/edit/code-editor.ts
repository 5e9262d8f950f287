import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import {
  HighlightStyle,
  bracketMatching,
  foldGutter,
  foldKeymap,
  indentUnit,
  syntaxHighlighting,
} from "@codemirror/language";
import { EditorState, RangeSetBuilder } from "@codemirror/state";
import {
  EditorView,
  drawSelection,
  highlightActiveLine,
  keymap,
  lineNumbers,
  Decoration,
  ViewPlugin,
  type DecorationSet,
  type ViewUpdate,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";

interface EditorOptions {
  parent: HTMLElement;
  label: string;
  text: string;
  /** For the style sheet that the editor creates. */
  nonce: string;
  onChange: (text: string) => void;
  onSubmit: () => void;
}

/** The part of the page that is loaded only for editing. */
export function createEditor({ parent, label, text, nonce, onChange, onSubmit }: EditorOptions) {
  const submit = () => {
    onSubmit();
    return true;
  };
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        EditorView.cspNonce.of(nonce),
        EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
        EditorView.lineWrapping,
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString());
        }),
        lineNumbers(),
        foldGutter(),
        history(),
        drawSelection(),
        highlightActiveLine(),
        bracketMatching(),
        indentUnit.of("  "),
        json(),
        syntaxHighlighting(COLOURS),
        hangLines,
        keymap.of([
          { key: "Mod-Enter", run: submit, preventDefault: true },
          { key: "Ctrl-Enter", run: submit, preventDefault: true },
          ...defaultKeymap,
          ...historyKeymap,
          ...foldKeymap,
          // Esc first, then Tab leaves the editor: the standard of CodeMirror for keyboard users.
          indentWithTab,
        ]),
      ],
    }),
  });
  return {
    replaceText(next: string): void {
      const current = view.state.doc.toString();
      if (next !== current) view.dispatch({ changes: { from: 0, to: current.length, insert: next } });
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}

/** Colours by class, the same as in the tree, so that light and dark follow the page's own style sheet. */
const COLOURS = HighlightStyle.define([
  { tag: tags.propertyName, class: "json-name" },
  { tag: tags.string, class: "json-value string" },
  { tag: tags.number, class: "json-value number" },
  { tag: [tags.bool, tags.null], class: "json-value" },
]);

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
const hangLines = ViewPlugin.fromClass(
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
