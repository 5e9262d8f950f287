import { DeliveriesView } from "./deliveries/deliveries-view.js";
import { LabelDialog } from "./detail/label-dialog.js";
import { TargetDialog } from "./detail/target-dialog.js";
import { EditDrawer } from "./edit/edit-drawer.js";
import { InboxView } from "./inbox/inbox-view.js";
import { TopBar } from "./nav/top-bar.js";
import { SandboxView } from "./sandbox/sandbox-view.js";
import { SendView } from "./send/send-view.js";
import { signedOut } from "./state/notice.js";
import { view, returnTo, type ViewName } from "./state/address.js";
import { ConfirmDialog } from "./ui/confirm.js";
import { Empty } from "./ui/empty.js";
import { Guarded } from "./ui/guarded.js";
import { Notices } from "./ui/notices.js";
import { session } from "./state/session.js";
import { NavBar, type NavItem } from "./ui/nav-bar.js";
import { KeySheet } from "./ui/key-sheet.js";
import { KEY_COMMANDS, KEY_GROUPS } from "./keyboard/commands.js";

export function App() {
  if (signedOut.value) {
    return (
      <main class="main">
        <Empty title="This browser is not signed in" isView>
          <p>Open the address that pigeonhole dev printed in the terminal: it contains the token.</p>
        </Empty>
      </main>
    );
  }
  return (
    <div class="app">
      <SideNav />
      <TopBar />
      <main class="main">
        <Guarded view={View} />
      </main>
      <EditDrawer />
      <TargetDialog />
      <LabelDialog />
      <ConfirmDialog />
      <DevKeySheet />
      <Notices />
    </div>
  );
}

const VIEWS = { deliveries: DeliveriesView, send: SendView, inbox: InboxView, sandbox: SandboxView };

function View() {
  const Shown = VIEWS[view.value];
  return <Shown />;
}

const ITEMS: readonly NavItem<ViewName>[] = [
  { name: "deliveries", label: "Deliveries", icon: "deliveries", key: "g d" },
  { name: "send", label: "Send", icon: "send", key: "g s" },
  { name: "inbox", label: "Inbox", icon: "inbox", key: "g i" },
  { name: "sandbox", label: "Sandbox", icon: "sandbox", key: "g b" },
];

function SideNav() {
  const items = ITEMS.filter(({ name }) => name !== "inbox" || session.value?.inbox === true);
  return <NavBar items={items} current={view.value} go={returnTo} />;
}

/** All keys of the dev server's page. */
function DevKeySheet() {
  return (
    <KeySheet groups={KEY_GROUPS} commands={KEY_COMMANDS}>
      <p class="hint">
        <kbd>Tab</kbd> goes from the list to the tabs of the open delivery and along them. With <kbd>Shift</kbd> or{" "}
        <kbd>Ctrl</kbd>, a click chooses rows.
      </p>
    </KeySheet>
  );
}
