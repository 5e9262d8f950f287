import { render } from "preact";
import { setPageAddress } from "./api/address-of.js";
import { followStream } from "./api/stream.js";
import { App } from "./app.js";
import { handleKeys } from "./keyboard/handle-keys.js";
import { dropCaptures, followQuery, loadCaptures, takeCaptures } from "./state/captures.js";
import { followOpenCapture, isOfOpenEvent, loadDetail } from "./state/detail.js";
import { forgetCaptures } from "./state/selection.js";
import { noteSandboxChange } from "./state/sandbox.js";
import { countArrivals, followTitle } from "./state/title.js";
import { loadWork, takeWork } from "./state/work.js";
import { checkSession, connection, loadSession, session } from "./state/session.js";

const page = document.querySelector("#page");
if (page === null) throw new Error("index.html has no element #page");

setPageAddress(location);
render(<App />, page);
handleKeys();
followQuery();
followOpenCapture();
followTitle();
void loadSession().then(loadWork);

followStream({
  onCaptures(arrived) {
    takeCaptures(arrived);
    countArrivals(arrived);
    if (arrived.some(isOfOpenEvent)) void loadDetail();
  },
  onRemoved(ids) {
    dropCaptures(ids);
    forgetCaptures(ids);
  },
  onWork: takeWork,
  onSession: (next) => (session.value = next),
  onSandbox: noteSandboxChange,
  onOpen() {
    const wasLost = connection.value === "lost";
    connection.value = "live";
    // Deliveries that arrived before the stream was open, also the first time, are not in the stream.
    void loadCaptures();
    // The server may be another one.
    if (wasLost) void Promise.all([loadDetail(), loadSession().then(loadWork)]);
  },
  onLost() {
    connection.value = "lost";
    void checkSession();
  },
});
