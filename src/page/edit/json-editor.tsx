import { useEffect, useRef, useState } from "preact/hooks";
import { parseJson } from "../json/parse-json.js";
import { runAction } from "../state/notice.js";
import { Icon } from "../ui/icon.js";
import type { createEditor } from "./code-editor.js";

interface JsonEditorOptions {
  label: string;
  /** The present text. The editor reads it only when `resets` changes, so that typing never waits for rendering. */
  text: string;
  resets: number;
  onChange: (text: string) => void;
  /** Takes the focus once it is loaded. @default false */
  isFocused?: boolean;
  /** Ctrl+Enter or Cmd+Enter. */
  onSubmit: () => void;
}

/** A JSON editor; its code is loaded when it is first needed. */
export function JsonEditor({ label, text, resets, isFocused = false, onChange, onSubmit }: JsonEditorOptions) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<ReturnType<typeof createEditor> | null>(null);
  const [isReady, setReady] = useState(false);
  // The editor lives longer than one rendering: it calls the latest callbacks.
  const latest = useRef({ text, onChange, onSubmit });
  latest.current = { text, onChange, onSubmit };

  useEffect(() => {
    let isGone = false;
    const start = async () => {
      const { createEditor } = await import("./code-editor.js");
      if (isGone || host.current === null) return;
      editor.current = createEditor({
        parent: host.current,
        label,
        text: latest.current.text,
        nonce: document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "",
        onChange: (next) => latest.current.onChange(next),
        onSubmit: () => latest.current.onSubmit(),
      });
      if (isFocused) editor.current.focus();
      setReady(true);
    };
    void runAction(start);
    return () => {
      isGone = true;
      editor.current?.destroy();
      editor.current = null;
    };
  }, []);

  useEffect(() => editor.current?.replaceText(latest.current.text), [resets]);

  const parsed = parseJson(text);
  return (
    <div class="editor" aria-busy={!isReady}>
      <div class="editor-host" ref={host} />
      <p class={parsed.ok ? "editor-state" : "editor-state bad"} role="status">
        <Icon name={parsed.ok ? "check" : "warning"} />
        {parsed.ok
          ? " JSON"
          : ` Line ${parsed.problem.line}, column ${parsed.problem.column}: ${parsed.problem.message}`}
      </p>
    </div>
  );
}
