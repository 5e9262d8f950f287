/** Gives the heading of the view the focus that an element has which goes away, or had if it is gone. */
export function leaveForHeading(going: Element): void {
  const focused = document.activeElement;
  if (focused !== null && focused !== document.body && focused !== going) return;
  const heading = document.querySelector<HTMLElement>("main h1");
  if (heading === null) return;
  heading.tabIndex = -1;
  heading.focus();
}
