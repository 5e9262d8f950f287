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
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
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
