import { useEffect } from "preact/hooks";
import { DeliveriesView } from "../deliveries/deliveries-view.js";
import { LabelDialog } from "../detail/label-dialog.js";
import { TargetDialog } from "../detail/target-dialog.js";
import { EditDrawer } from "../edit/edit-drawer.js";
import { KEY_COMMANDS, KEY_GROUPS } from "./commands.js";
import { TopBar } from "./top-bar.js";
import { PausedBanners } from "../message/paused-banners.js";
import { NoInbox } from "../message/no-inbox.js";
import { OutboxListView } from "../outbox/outbox-list-view.js";
import { SandboxView } from "../sandbox/sandbox-view.js";
import { SendView } from "../send/send-view.js";
import { type ViewName, view } from "../state/address.js";
import { loadHandlers } from "../state/handlers.js";
import { session } from "../state/session.js";
import { Empty } from "../ui/empty.js";
import { Frame } from "../ui/frame.js";
import { KeySheet } from "../ui/key-sheet.js";
import type { NavItem } from "../ui/nav-bar.js";

const STRANGER = {
  title: "This browser is not signed in",
  children: <p>Open the address that pigeonhole dev printed in the terminal: it contains the token.</p>,
};

export function DevApp() {
  const hasInbox = session.value?.inbox === true;
  useEffect(() => void (hasInbox && loadHandlers()), [hasInbox]);
  return (
    <Frame
      items={ITEMS.filter(({ name }) => name !== "outbox" || hasInbox)}
      current={view.value}
      top={<TopBar />}
      banners={<PausedBanners />}
      shown={View}
      dialogs={
        <>
          <EditDrawer />
          <TargetDialog />
          <LabelDialog />
          <DevKeySheet />
        </>
      }
      stranger={STRANGER}
    />
  );
}

function View() {
  if (view.value === "send") return <SendView />;
  if (view.value === "sandbox") return <SandboxView />;
  if (view.value !== "outbox") return <DeliveriesView />;
  if (session.value?.inbox === true) return <OutboxListView />;
  return (
    <Empty title="No inbox" isView>
      <NoInbox />
    </Empty>
  );
}

const ITEMS: readonly NavItem<ViewName>[] = [
  { name: "deliveries", label: "Deliveries", icon: "deliveries", key: "g d" },
  { name: "send", label: "Send", icon: "send", key: "g s" },
  { name: "outbox", label: "Outbox", icon: "inbox", key: "g x" },
  { name: "sandbox", label: "Sandbox", icon: "sandbox", key: "g b" },
];

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
