import type { ComponentChildren } from "preact";

interface FormOptions {
  label?: string;
  class?: string;
  /** What submitting it does; it may take its time. */
  run: (form: HTMLFormElement) => unknown;
  children: ComponentChildren;
}

/** A form of the page, which goes nowhere. */
export function Form({ label, class: look, run, children }: FormOptions) {
  return (
    <form
      class={look}
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        void run(event.currentTarget);
      }}
    >
      {children}
    </form>
  );
}

/** Ctrl+Enter and Cmd+Enter send from anywhere in the form; the editor handles its own keys. */
export function onSendKey(send: () => void): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return;
    event.preventDefault();
    send();
  };
}
