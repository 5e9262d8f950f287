import { useEffect } from "preact/hooks";
import { DeliveriesView } from "../deliveries/deliveries-view.js";
import { NoInbox } from "../detail/handlers-tab.js";
import { PausedBanners } from "../message/paused-banners.js";
import { OutboxListView } from "../outbox/outbox-list-view.js";
import { SandboxView } from "../sandbox/sandbox-view.js";
import { SendView } from "../send/send-view.js";
import { view } from "../state/address.js";
import { openId } from "../state/captures.js";
import { loadHandlers } from "../state/handlers.js";
import { session } from "../state/session.js";
import { CopyButton } from "../ui/copy-button.js";
import { Empty } from "../ui/empty.js";
import { Frame } from "../ui/frame.js";
import { Icon } from "../ui/icon.js";
import { KeySheet } from "../ui/key-sheet.js";
import { returnToRow } from "../ui/row-cursor.js";
import { DEV_VIEWS, KEY_COMMANDS, KEY_GROUPS } from "./commands.js";

const STRANGER = {
  title: "This browser is not signed in",
  children: <p>Open the address that pigeonhole dev printed in the terminal: it contains the token.</p>,
};

export function DevApp() {
  const hasInbox = session.value?.inbox === true;
  useEffect(() => void (hasInbox && loadHandlers()), [hasInbox]);
  // A list that an open delivery covered can have the focus again only once it is drawn.
  useEffect(() => (openId.value === "" ? returnToRow() : undefined), [openId.value]);
  return (
    <Frame
      items={DEV_VIEWS.filter(({ name }) => name !== "outbox" || hasInbox)}
      current={view.value}
      top={<Top />}
      banners={<PausedBanners />}
      shown={View}
      sheet={
        <KeySheet groups={KEY_GROUPS} commands={KEY_COMMANDS}>
          <p class="hint">
            <kbd>Tab</kbd> goes from the list to the tabs of the open delivery and along them. With <kbd>Shift</kbd>, a
            click into a box chooses all rows from the last one.
          </p>
        </KeySheet>
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

/** Where deliveries are received and forwarded. */
function Top() {
  if (session.value === null) return <span class="spring" />;
  const { publicUrl, captureUrl, forwards, secrets } = session.value;
  return (
    <>
      <span class="top-item">
        <span class="top-label">{publicUrl === null ? "Receiving" : "Public"}</span>
        <CopyButton text={publicUrl ?? captureUrl} what={publicUrl === null ? "the receiving URL" : "the public URL"} />
      </span>
      <Icon name="arrow" />
      <span class="top-item forwards">
        {forwards.length === 0 && <span class="hint">captured only; --forward-to sends on to your app</span>}
        {forwards.map(({ types, target }) => (
          <span class="forward" key={`${types}${target}`} title={`${types} → ${target}`}>
            {types !== "*" && <span class="tag">{types}</span>}
            <code>{target.replace(/^https?:\/\//, "")}</code>
          </span>
        ))}
      </span>
      <span class="spring" />
      <span class="top-item secrets" title="Secrets that signatures are checked with">
        <span class="top-label">Secret</span>
        {secrets.length === 0 ? <span class="warn">none</span> : <code>{secrets.join(", ")}</code>}
      </span>
    </>
  );
}
