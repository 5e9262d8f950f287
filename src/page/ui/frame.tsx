import type { ComponentChildren, FunctionComponent } from "preact";
import { useErrorBoundary } from "preact/hooks";
import { errorMessage } from "../../base/error-text.js";
import { SERVER } from "../api/face.js";
import { type ViewName, returnTo, view } from "../state/address.js";
import { announcement, dismissNotice, notices, signedOut } from "../state/notice.js";
import { type StreamState, streamState } from "../state/now.js";
import { Button, IconButton } from "./button.js";
import { OpenDialogs } from "./dialog.js";
import { Empty } from "./empty.js";
import { type KeyCommand, keysOf } from "./follow-keys.js";
import { Icon, type IconName } from "./icon.js";
import { isSheetOpen } from "./key-sheet.js";

/** A view, as the navigation shows it. */
export interface NavItem {
  name: ViewName;
  label: string;
  icon: IconName;
  /** The keys that go there. */
  key: string;
}

interface FrameOptions {
  items: readonly NavItem[];
  /** The view that the navigation marks. */
  current: ViewName;
  /** Of the top bar, before the state of the connection. */
  top: ComponentChildren;
  /** Above the view. */
  banners: ComponentChildren;
  shown: FunctionComponent;
  sheet: ComponentChildren;
  /** Shown in place of all for a person whom the server does not know. */
  stranger: { title: string; children: ComponentChildren };
}

/** What both faces of the page have around their views. */
export function Frame({ items, current, top, banners, shown, sheet, stranger }: FrameOptions) {
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
      <NavBar items={items} current={current} />
      <header class="top">
        {top}
        <ConnectionState />
      </header>
      <main class="main">
        {banners}
        <Guarded key={view.value} view={shown} />
      </main>
      {sheet}
      <OpenDialogs />
      <Notices />
    </div>
  );
}

/** The keys that go to these views, and to the sheet of keys. */
export function goKeys(items: readonly NavItem[]): KeyCommand[] {
  const go = keysOf("Go", null);
  return [
    ...items.map(({ name, label, key }) => go([key], label, () => returnTo(name))),
    go(["?"], "This sheet", () => (isSheetOpen.value = true)),
  ];
}

/** The views of a page, and its sheet of keys. A narrow window hides the words, which stay the names of the buttons. */
function NavBar({ items, current }: Pick<FrameOptions, "items" | "current">) {
  return (
    <nav class="nav" aria-label="Views">
      <img class="nav-mark" src="./icon.svg" alt="pigeonhole" width="28" height="28" />
      {items.map(({ name, label, icon, key }) => (
        <button
          key={name}
          type="button"
          class="nav-item"
          aria-label={label}
          aria-current={current === name ? "page" : false}
          title={`${label} (${key})`}
          onClick={() => returnTo(name)}
        >
          <Icon name={icon} />
          {label}
        </button>
      ))}
      <span class="spring" />
      <button type="button" class="nav-item" title="Keys (?)" onClick={() => (isSheetOpen.value = true)}>
        <Icon name="keyboard" />
        Keys
      </button>
    </nav>
  );
}

const CONNECTION: Record<StreamState, { word: string; tone: string; meaning: string }> = {
  connecting: { word: "connecting", tone: "mute", meaning: "Connecting." },
  live: { word: "live", tone: "good", meaning: "Changes appear by themselves." },
  polling: { word: "every 3 s", tone: "good", meaning: "Too many pages are open; this one reads every 3 s." },
  lost: {
    word: "lost, trying again",
    tone: "bad",
    meaning: `${SERVER} does not answer. The page may show old data.`,
  },
  ended: {
    word: "stopped, trying again",
    tone: "bad",
    meaning: "The receiver has stopped. The page may show old data.",
  },
};

/** Whether the page is live. */
function ConnectionState() {
  const { word, tone, meaning } = CONNECTION[streamState.value];
  return (
    <span class={`connection ${tone}`} role="status" title={meaning}>
      <span class="connection-dot" />
      {word}
    </span>
  );
}

/** A bug of the page is shown instead of leaving the window empty. */
function Guarded({ view: View }: { view: FunctionComponent }) {
  const [error, forget] = useErrorBoundary();
  if (error === undefined) return <View />;
  return (
    <Empty title="The page has an error" isView>
      <p>{errorMessage(error)}</p>
      <Button label="Try again" run={forget} />
    </Empty>
  );
}

/** Notices at the lower edge, also announced to screen readers. */
function Notices() {
  return (
    <>
      <div class="notices" role="status">
        {notices.value.map(({ id, tone, text, action }) => (
          <div key={id} class={`notice ${tone}`}>
            <Icon name={tone === "bad" || tone === "warn" ? "warning" : "check"} />
            <span class="notice-text">{text}</span>
            {action !== undefined && <Button label={action.label} class="small" run={action.run} />}
            <IconButton icon="cross" label="Dismiss" onClick={() => dismissNotice(id)} />
          </div>
        ))}
      </div>
      <div class="unseen" aria-live="polite">
        {announcement.value}
      </div>
    </>
  );
}
