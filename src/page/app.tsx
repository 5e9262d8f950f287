import { DeliveriesView } from "./deliveries/deliveries-view.js";
import { LabelDialog } from "./detail/label-dialog.js";
import { TargetDialog } from "./detail/target-dialog.js";
import { EditDrawer } from "./edit/edit-drawer.js";
import { InboxView } from "./inbox/inbox-view.js";
import { DevKeySheet } from "./keyboard/sheet.js";
import { SideNav } from "./nav/side-nav.js";
import { TopBar } from "./nav/top-bar.js";
import { SandboxView } from "./sandbox/sandbox-view.js";
import { SendView } from "./send/send-view.js";
import { signedOut } from "./state/notice.js";
import { view } from "./state/address.js";
import { ConfirmDialog } from "./ui/confirm.js";
import { Empty } from "./ui/empty.js";
import { Guarded } from "./ui/guarded.js";
import { Notices } from "./ui/notices.js";

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
