import { Time, useElapsed } from "../../ui/time.js";
import type { ComponentChildren } from "preact";
import type { EndpointHealth, StoreFigures } from "../../../operator/figures-now.js";
import { type StateNow, OLD_COUNTS_MS } from "../../../dashboard/state-now.js";
import { Icon, type IconName } from "../../ui/icon.js";
import { linkTo } from "../../state/address.js";
import { formatBytes, formatCount, formatExactTime, formatSpan, plural } from "../../text/format.js";
import { now } from "../../state/now.js";

/** Answers other than 2xx in a row from which on the number is shown as serious. */
const MANY_FAILURES = 50;

/** The state at this moment, each fact with its meaning. */
export function NowCards() {
  const current = now.value;
  if (current === null) return <p class="hint dash-loading">Waiting for the state…</p>;
  const { store, disk, running, countedAgoMs, repair } = current;
  return (
    <div class="cards">
      <StateCard now={current} />
      <EndpointCard endpoint={current.endpoint} />
      {repair !== null && <RepairCard round={repair} />}
      {store !== null && (
        <LevelCard
          title="Backlog"
          view="work"
          level={{ ...store, oldestAgeMs: store.oldestPendingAgeMs }}
          parked={store.parked}
          countedAgoMs={countedAgoMs}
        />
      )}
      <Card title="Runs now" tone="mute" value={formatCount(running)}>
        <a href={linkTo("work", { show: "running" })}>what runs</a>
      </Card>
      {store !== null && <LevelCard title="Outbox" view="outbox" level={store.outbox} countedAgoMs={countedAgoMs} />}
      {disk.usedBytes !== null && (
        <Card title="Disk" tone="mute" value={formatBytes(disk.usedBytes)}>
          <span>{disk.freeBytes === null ? "free space not known" : `${formatBytes(disk.freeBytes)} free`}</span>
        </Card>
      )}
    </div>
  );
}

/** A span of the state, and the time since that came: it comes again when more has changed than the spans in it. */
function Age({ ms }: { ms: number }) {
  return <>{formatSpan(ms + useElapsed(now.value))}</>;
}

type CardTone = "good" | "warn" | "bad" | "mute";

const ICONS: Record<CardTone, IconName> = { good: "check", warn: "warning", bad: "cross", mute: "minus" };

interface CardOptions {
  title: string;
  value: string;
  tone: CardTone;
  children?: ComponentChildren;
}

function Card({ title, value, tone, children }: CardOptions) {
  return (
    <div class="card" role="group" aria-label={title}>
      <h2>{title}</h2>
      <p class="card-value">
        <span class={tone}>
          <Icon name={ICONS[tone]} />
        </span>
        <b>{value}</b>
      </p>
      <p class="card-more hint">{children}</p>
    </div>
  );
}

function CardLink({ href, count, word }: { href: string; count: number; word: string }) {
  return (
    <a href={href} class={count > 0 ? "bad" : ""}>
      {formatCount(count)} {word}
    </a>
  );
}

interface LevelCardOptions {
  title: string;
  view: "work" | "outbox";
  level: StoreFigures["outbox"];
  /** Of work only. */
  parked?: number;
  countedAgoMs: number;
}

/** How much waits or runs, and what has stopped. */
function LevelCard({ title, view, level, parked, countedAgoMs }: LevelCardOptions) {
  const { pending, retrying, running, dead, oldestAgeMs } = level;
  const tone = dead + (parked ?? 0) > 0 ? "warn" : "good";
  return (
    <Card title={title} tone={tone} value={formatCount(pending + retrying + running)}>
      <span>
        {oldestAgeMs === 0 ? (
          "nothing waits"
        ) : (
          <>
            the oldest is <Age ms={oldestAgeMs} /> old
          </>
        )}
      </span>
      {/* Counts of a moment ago need no word. */}
      {countedAgoMs >= OLD_COUNTS_MS && (
        <span>
          counted <Age ms={countedAgoMs} /> ago
        </span>
      )}
      <CardLink href={linkTo(view, { state: "dead" })} count={dead} word="dead" />
      {parked !== undefined && <CardLink href={linkTo(view, { state: "parked" })} count={parked} word="parked" />}
    </Card>
  );
}

function StateCard({ now: { state, processes, trouble } }: { now: StateNow }) {
  const alive = processes.filter(({ isAlive }) => isAlive).length;
  const tone = state === "running" ? "good" : alive === 0 ? "bad" : "warn";
  return (
    <Card title="Receiver" tone={tone} value={state}>
      <span>{trouble === null ? `${plural(alive, "process", "processes")} on this store` : "this process alone"}</span>
    </Card>
  );
}

function RepairCard({ round: { at, missing, stillMissing, refused } }: { round: NonNullable<StateNow["repair"]> }) {
  return (
    <Card title="Missing events" tone={refused === null ? "good" : "warn"} value={formatCount(stillMissing)}>
      <Time at={at} before="compared at " />
      {missing > stillMissing && <span>{formatCount(missing - stillMissing)} brought in</span>}
      {refused !== null && <span class="warn">{refused}</span>}
    </Card>
  );
}

function EndpointCard({ endpoint }: { endpoint: EndpointHealth }) {
  const { failuresInARow, disablesAt, lastAcceptedAt, silentForMs, isSilent } = endpoint;
  const tone = failuresInARow >= MANY_FAILURES ? "bad" : failuresInARow > 0 || isSilent ? "warn" : "good";
  return (
    <Card title="Endpoint" tone={tone} value={`${failuresInARow} of ${disablesAt}`}>
      <span title={`The service switches the endpoint off after ${disablesAt} failures in a row.`}>
        failures in a row
      </span>
      <meter
        aria-label="Failures in a row"
        min={0}
        max={disablesAt}
        low={1}
        high={MANY_FAILURES}
        optimum={0}
        value={failuresInARow}
      />
      {lastAcceptedAt === null || silentForMs === null ? (
        <span>nothing accepted yet</span>
      ) : (
        <span title={formatExactTime(lastAcceptedAt)} class={isSilent ? "warn" : ""}>
          {isSilent && "silent: "}last accepted <Age ms={silentForMs} /> ago
        </span>
      )}
    </Card>
  );
}
