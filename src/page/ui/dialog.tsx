import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { asked } from "../state/confirmed.js";
import { Button } from "./button.js";
import { Form, onSendKey } from "./form.js";

const opened = signal<ComponentChildren>(null);

/** Shows a dialog until {@link closeDialog}. */
export function openDialog(dialog: ComponentChildren): void {
  opened.value = dialog;
}

export function closeDialog(): void {
  opened.value = null;
}

/** The dialog that is open, and the question that waits for an answer. */
export function OpenDialogs() {
  const question = asked.value;
  return (
    <>
      {opened.value}
      {question !== null && (
        <FormDialog
          title={question.title}
          verb={question.verb}
          look="danger"
          onClose={() => question.settle(false)}
          onSubmit={() => question.settle(true)}
        >
          <p class="hint">{question.text}</p>
        </FormDialog>
      )}
    </>
  );
}

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

interface FormDialogOptions {
  title: string;
  /** Of the button that does it. */
  verb: string;
  /** Of that button: `danger` where it cannot be undone, and has the focus. */
  look?: "primary" | "danger";
  onClose?: () => void;
  onSubmit: () => unknown;
  children: ComponentChildren;
}

/** A dialog that asks before something is done. */
export function FormDialog(options: FormDialogOptions) {
  const { title, verb, look = "primary", onClose = closeDialog, onSubmit, children } = options;
  return (
    <Dialog label={title} class="form-dialog" onClose={onClose} onKeyDown={onSendKey(() => void onSubmit())}>
      <Form run={onSubmit}>
        <h2>{title}</h2>
        {children}
        <div class="dialog-buttons">
          <Button label="Cancel" run={onClose} />
          <Button label={verb} type="submit" class={look} autofocus={look === "danger"} />
        </div>
      </Form>
    </Dialog>
  );
}
