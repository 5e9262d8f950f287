import { CompareCaptures } from "../compare/compare-captures.js";
import { DetailPane } from "../detail/detail-pane.js";
import { compared, openId } from "../state/selection.js";
import { SplitPane } from "../ui/split-pane.js";
import { CaptureList } from "./capture-list.js";
import { ListChart } from "./list-chart.js";
import { SearchBox } from "./search-box.js";
import { SelectionBar } from "./selection-bar.js";
import { StatusStrip } from "./status-strip.js";

export function DeliveriesView() {
  const pair = compared.value;
  const right =
    pair === null ? openId.value === "" ? null : <DetailPane /> : <CompareCaptures a={pair[0]} b={pair[1]} />;
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
            <ListChart />
            <CaptureList />
            <SelectionBar />
          </div>
        }
        right={right}
      />
    </div>
  );
}
