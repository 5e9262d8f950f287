import { DetailPane } from "../detail/detail-pane.js";
import { openId } from "../state/captures.js";
import { SplitPane } from "../ui/split-pane.js";
import { CaptureList } from "./capture-list.js";
import { TimeChart } from "./time-chart.js";
import { SearchBox } from "./search-box.js";
import { CaptureBar } from "./capture-bar.js";
import { StatusStrip } from "./status-strip.js";

export function DeliveriesView() {
  return (
    <div class="deliveries">
      <h1 class="unseen">Deliveries</h1>
      <div class="toolbar">
        <SearchBox />
        <StatusStrip />
      </div>
      <SplitPane
        name="deliveries"
        share={0.52}
        left={
          <div class="list-side">
            <TimeChart />
            <CaptureList />
            <CaptureBar />
          </div>
        }
        right={openId.value === "" ? null : <DetailPane />}
      />
    </div>
  );
}
