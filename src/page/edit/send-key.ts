/** Ctrl+Enter and Cmd+Enter send from anywhere in the form; the editor handles its own keys. */
export function onSendKey(send: () => void): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return;
    event.preventDefault();
    send();
  };
}
