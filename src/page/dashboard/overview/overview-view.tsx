import { useEffect } from "preact/hooks";
import type { AlarmRow, OverviewFigures, ProcessRow, RunSeries, StepValues } from "../../../dashboard/state-now.js";
import { type PlotSeries, addUp, highest } from "../plots/plot-series.js";
import { answerSeries, timeSeries, waitSeries } from "./plotted-series.js";
import { Attention } from "./attention.js";
import { Plot } from "../plots/plot.js";
import { setParams } from "../../state/address.js";
import { escapeControls } from "../../../base/text.js";
import { NowCards } from "./now-cards.js";
import { RANGES, chosenHandler, figures, loadFigures, range } from "./figures.js";
import { now } from "../../state/now.js";
import {
  formatBytes,
  formatCount,
  formatExactTime,
  formatMs,
  formatSpan,
  formatTime,
  shortText,
} from "../../text/format.js";
import { Panel } from "../../ui/panel.js";
import { ChoiceFilter } from "../../ui/filter-fields.js";
import { Segments } from "../../ui/tabs.js";
import { DataTable, timeColumn, type TableColumn } from "../../ui/data-table.js";

/** The state now, and how it came to it. */
export function OverviewView() {
  const chosen = range.value;
  useEffect(() => {
    const load = () => void loadFigures();
    load();
    document.addEventListener("visibilitychange", load);
    return () => document.removeEventListener("visibilitychange", load);
  }, [chosen]);
  const read = figures.value;
  return (
    <div class="dash-view">
      <header class="pane-head">
        <h1>Overview</h1>
        <span class="spring" />
        <ChoiceFilter
          name="handler"
          label="Handler whose runs are plotted"
          all="All handlers"
          choices={read?.handlers.map(({ handler }) => handler) ?? []}
        />
        <Segments
          label="Time that the plots show"
          choices={RANGES}
          current={chosen}
          choose={(name) => setParams({ range: name === "1h" ? "" : name })}
        />
      </header>
      <div class="dash-scroll" tabIndex={0} role="region" aria-label="State and figures">
        <Attention />
        <NowCards />
        <AlarmTable />
        {read === null ? <p class="hint dash-loading">Loading figures…</p> : <Plots figures={read} />}
        <Processes />
      </div>
    </div>
  );
}

function Plots({ figures }: { figures: OverviewFigures }) {
  const { times, stepMs, latency } = figures;
  const common = { times, stepMs };
  return (
    <div class="plots">
      <Plot
        {...common}
        title="Deliveries by outcome"
        isPerStep
        series={answerSeries(figures.answers)}
        format={formatCount}
        isStacked
        isWhole
        emptyText="No deliveries in this time."
      />
      <Plot
        {...common}
        title="Time to the answer"
        series={[
          timeSeries({ label: "median", tone: "accent", fromMs: latency.medianFromMs }),
          timeSeries({ label: "95 %", tone: "warn", fromMs: latency.p95FromMs }),
          timeSeries({ label: "99 %", tone: "bad", fromMs: latency.p99FromMs }),
          waitSeries(latency.medianFromMs),
        ]}
        format={formatMs}
        isLog
        isBound
        emptyText="No deliveries in this time."
      />
      <HandlerFigures figures={figures} />
      {figures.now.trouble === null && <StorePlots figures={figures} />}
    </div>
  );
}

/** Runs and times of handlers: of the chosen one, or of all. */
function HandlerFigures({ figures }: { figures: OverviewFigures }) {
  const { times, stepMs, handlers } = figures;
  const chosen = handlers.find(({ handler }) => handler === chosenHandler.value);
  const shown = chosen === undefined ? handlers : [chosen];
  const of = chosen === undefined ? "all handlers" : escapeControls(chosen.handler);
  const suffix = chosen === undefined ? " of the slowest handler" : "";
  const failed = addUp(shown.map((each) => each.failed));
  const done = addUp(shown.map((each) => each.runs)).map((ended, index) =>
    ended === null ? null : ended - (failed[index] ?? 0),
  );
  const ofSlowest = (of: (each: RunSeries) => StepValues): StepValues => highest(shown.map(of));
  const common = { times, stepMs, emptyText: "No runs in this time." };
  return (
    <>
      <Plot
        {...common}
        title={`Runs of ${of}`}
        isPerStep
        series={[
          { label: "failed", tone: "bad", values: failed },
          { label: "done", tone: "good", values: done },
        ]}
        format={formatCount}
        isStacked
        isWhole
      />
      <Plot
        {...common}
        title={`Time of runs of ${of}`}
        series={[
          timeSeries({ label: `median${suffix}`, tone: "accent", fromMs: ofSlowest((each) => each.medianFromMs) }),
          timeSeries({ label: `95 %${suffix}`, tone: "warn", fromMs: ofSlowest((each) => each.p95FromMs) }),
        ]}
        format={formatMs}
        isWhole
        isBound
      />
    </>
  );
}

/** What the store alone knows. An outbox that held nothing in this time needs no plot. */
function StorePlots({ figures }: { figures: OverviewFigures }) {
  const { times, stepMs, backlog, outbox, disk } = figures;
  const common = { times, stepMs };
  const depth = { ...common, format: formatCount, formatRight: formatSpan, isRightAge: true, isWhole: true };
  return (
    <>
      <Plot {...depth} title="Backlog of work" series={depthAndAge(backlog)} />
      {outbox.depth.some((count) => (count ?? 0) > 0) && (
        <Plot {...depth} title="Outbox" series={depthAndAge(outbox)} />
      )}
      <Plot
        {...common}
        title="Disk"
        series={[
          { label: "used by the store", tone: "accent", values: disk.usedBytes },
          { label: "free", tone: "mute", values: disk.freeBytes, axis: "right" },
        ]}
        format={formatBytes}
        emptyText="The size of this store is not known."
      />
    </>
  );
}

function depthAndAge({ depth, oldestAgeMs }: OverviewFigures["backlog"]): PlotSeries[] {
  return [
    { label: "pending, retrying or running", tone: "accent", values: depth },
    { label: "age of the oldest", tone: "warn", values: oldestAgeMs, axis: "right" },
  ];
}

/** What this process warns of, and what to do about it. */
function AlarmTable() {
  const alarms = now.value?.alarms ?? [];
  if (alarms.length === 0) return null;
  return (
    <Panel title="Alarms of this process" class="processes">
      <DataTable label="Alarms of this process" columns={ALARM_COLUMNS} rows={alarms} keyOf={({ kind }) => kind} />
    </Panel>
  );
}

const ALARM_COLUMNS: readonly TableColumn<AlarmRow>[] = [
  {
    title: "Alarm",
    isName: true,
    class: "plain long",
    cell: ({ text }) => shortText(text),
  },
  {
    title: "Since",
    cell: ({ since }) => formatTime(since),
    hint: ({ at }) => `Last raised ${formatExactTime(at)}`,
  },
  { title: "Advice", class: "long", cell: ({ advice }) => advice },
];

/** The processes that have the store open, if they are several. */
function Processes() {
  const processes = now.value?.processes ?? [];
  if (processes.length < 2) return null;
  return (
    <Panel title="Processes" class="processes">
      <DataTable
        label="Processes on this store"
        columns={PROCESS_COLUMNS}
        rows={processes}
        keyOf={({ process }) => process}
      />
    </Panel>
  );
}

const PROCESS_COLUMNS: readonly TableColumn<ProcessRow>[] = [
  {
    title: "Process",
    isName: true,
    class: "plain",
    cell: ({ host, pid, isThis }) => (
      <>
        <code>{shortText(`${host}:${pid}`)}</code> {isThis && <span class="tag">this one</span>}
      </>
    ),
  },
  { title: "Role", cell: ({ role }) => role },
  { title: "State", cell: ({ isAlive, state }) => (isAlive ? state : <span class="bad">not reporting</span>) },
  { title: "Failures in a row", class: "number", cell: ({ failuresInARow }) => failuresInARow },
  { title: "Runs now", class: "number", cell: ({ running }) => running },
  timeColumn("Reported", ({ reportedAt }) => reportedAt),
];
