import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface DialogOptions {
  label: string;
  onClose: () => void;
  class?: string;
  onKeyDown?: (event: KeyboardEvent) => void;
  children: ComponentChildren;
}

/** A modal dialog of the platform: focus is kept inside, Esc closes it, and focus goes back where it was. */
export function Dialog({ label, onClose, class: className = "", onKeyDown, children }: DialogOptions) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    const dialog = ref.current;
    dialog?.showModal();
    return () => {
      // While it is open, nothing outside takes the focus.
      dialog?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      class={`dialog ${className}`}
      aria-label={label}
      {...(onKeyDown === undefined ? {} : { onKeyDown })}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === ref.current) onClose();
      }}
    >
      {children}
    </dialog>
  );
}
