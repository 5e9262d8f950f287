import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { bracketMatching, foldGutter, foldKeymap, indentUnit } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { colourJson } from "./colour-json.js";
import { hangLines } from "./hang-lines.js";

export interface EditorHandle {
  replaceText(text: string): void;
  focus(): void;
  destroy(): void;
}

export interface EditorOptions {
  parent: HTMLElement;
  label: string;
  text: string;
  /** For the style sheet that the editor creates. */
  nonce: string;
  onChange: (text: string) => void;
  onSubmit: () => void;
}

/** The part of the page that is loaded only for editing. */
export function createEditor({ parent, label, text, nonce, onChange, onSubmit }: EditorOptions): EditorHandle {
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
        colourJson,
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
    replaceText(next) {
      const current = view.state.doc.toString();
      if (next !== current) view.dispatch({ changes: { from: 0, to: current.length, insert: next } });
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}
