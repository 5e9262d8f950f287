import type { ComponentChildren, FunctionComponent } from "preact";
import { type ViewName, returnTo, view } from "../state/address.js";
import { signedOut } from "../state/notice.js";
import { ConfirmDialog } from "./confirm.js";
import { Empty } from "./empty.js";
import { Guarded } from "./guarded.js";
import { NavBar, type NavItem } from "./nav-bar.js";
import { Notices } from "./notices.js";

interface FrameOptions {
  items: readonly NavItem<ViewName>[];
  /** The view that the navigation marks. */
  current: ViewName;
  top: ComponentChildren;
  /** Above the view. */
  banners: ComponentChildren;
  shown: FunctionComponent;
  /** Dialogs and the sheet of keys. */
  dialogs: ComponentChildren;
  /** Shown in place of all for a person whom the server does not know. */
  stranger: { title: string; children: ComponentChildren };
}

/** What both faces of the page have around their views. */
export function Frame({ items, current, top, banners, shown, dialogs, stranger }: FrameOptions) {
  if (signedOut.value) {
    return (
      <main class="main">
        <Empty title={stranger.title} isView>
          {stranger.children}
        </Empty>
      </main>
    );
  }
  return (
    <div class="app">
      <NavBar items={items} current={current} go={returnTo} />
      {top}
      <main class="main">
        {banners}
        <Guarded key={view.value} view={shown} />
      </main>
      {dialogs}
      <ConfirmDialog />
      <Notices />
    </div>
  );
}
