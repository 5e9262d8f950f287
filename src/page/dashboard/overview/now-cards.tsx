import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { SECOND } from "../../../base/duration.js";
import { isoTime } from "../../../base/iso-time.js";
import type { EndpointHealth } from "../../../operator/figures-now.js";
import { type StateNow, OLD_COUNTS_MS } from "../../../web/api/now.js";
import { formatBytes, formatCount, formatExactTime, formatTime, plural } from "../../ui/format.js";
import { Icon, type IconName } from "../../ui/icon.js";
import { linkTo } from "../../state/address.js";
import { now } from "../../state/now.js";
import { formatAge } from "../ui/format-age.js";

/** Answers other than 2xx in a row from which on the number is shown as serious. */
const MANY_FAILURES = 50;

/** The state at this moment, each fact with its meaning. */
export function NowCards() {
  const current = now.value;
  const elapsedMs = useElapsed(current);
  if (current === null) return <p class="hint dash-loading">Waiting for the state…</p>;
  const { backlog, outbox, disk, running } = current;
  return (
    <div class="cards">
      <StateCard now={current} />
      <EndpointCard endpoint={current.endpoint} elapsedMs={elapsedMs} />
      {current.repair !== null && <RepairCard round={current.repair} />}
      {backlog !== null && <BacklogCard level={backlog} countedAgoMs={current.countedAgoMs} elapsedMs={elapsedMs} />}
      <Card title="Runs now" tone="mute" value={formatCount(running)}>
        <a href={linkTo("work", { show: "running" })}>what runs</a>
      </Card>
      {outbox !== null && <OutboxCard level={outbox} countedAgoMs={current.countedAgoMs} elapsedMs={elapsedMs} />}
      {disk.usedBytes !== null && (
        <Card title="Disk" tone="mute" value={formatBytes(disk.usedBytes)}>
          <span>{disk.freeBytes === null ? "free space not known" : `${formatBytes(disk.freeBytes)} free`}</span>
        </Card>
      )}
    </div>
  );
}

/** Time since the state came, in milliseconds: it comes again when more has changed than the ages in it. */
function useElapsed(current: StateNow | null): number {
  const [elapsedMs, setElapsed] = useState(0);
  useEffect(() => {
    const begun = performance.now();
    setElapsed(0);
    const timer = setInterval(() => setElapsed(performance.now() - begun), SECOND);
    return () => clearInterval(timer);
  }, [current]);
  return elapsedMs;
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

function OldestAge({ ms, elapsedMs }: { ms: number; elapsedMs: number }) {
  return <span>{ms === 0 ? "nothing waits" : `the oldest is ${formatAge(ms + elapsedMs)} old`}</span>;
}

/** Counts of a moment ago need no word. */
function CountedAgo({ countedAgoMs, elapsedMs }: { countedAgoMs: number; elapsedMs: number }) {
  return countedAgoMs < OLD_COUNTS_MS ? null : <span>counted {formatAge(countedAgoMs + elapsedMs)} ago</span>;
}

function CardLink({ href, count, word }: { href: string; count: number; word: string }) {
  return (
    <a href={href} class={count > 0 ? "bad" : ""}>
      {formatCount(count)} {word}
    </a>
  );
}

interface LevelProps<Level extends "backlog" | "outbox"> {
  countedAgoMs: number;
  elapsedMs: number;
  /** What of the state the card shows. */
  level: NonNullable<StateNow[Level]>;
}

function BacklogCard({ level, countedAgoMs, elapsedMs }: LevelProps<"backlog">) {
  const { pending, retrying, running, dead, parked, oldestAgeMs } = level;
  return (
    <Card title="Backlog" tone={dead + parked > 0 ? "warn" : "good"} value={formatCount(pending + retrying + running)}>
      <OldestAge ms={oldestAgeMs} elapsedMs={elapsedMs} />
      <CountedAgo countedAgoMs={countedAgoMs} elapsedMs={elapsedMs} />
      <CardLink href={linkTo("work", { state: "dead" })} count={dead} word="dead" />
      <CardLink href={linkTo("work", { state: "parked" })} count={parked} word="parked" />
    </Card>
  );
}

function OutboxCard({ level, countedAgoMs, elapsedMs }: LevelProps<"outbox">) {
  const { pending, retrying, running, dead, oldestAgeMs } = level;
  return (
    <Card title="Outbox" tone={dead > 0 ? "warn" : "good"} value={formatCount(pending + retrying + running)}>
      <OldestAge ms={oldestAgeMs} elapsedMs={elapsedMs} />
      <CountedAgo countedAgoMs={countedAgoMs} elapsedMs={elapsedMs} />
      <CardLink href={linkTo("outbox", { state: "dead" })} count={dead} word="dead" />
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
      <span title={formatExactTime(isoTime(at))}>compared at {formatTime(isoTime(at))}</span>
      {missing > stillMissing && <span>{formatCount(missing - stillMissing)} brought in</span>}
      {refused !== null && <span class="warn">{refused}</span>}
    </Card>
  );
}

function EndpointCard({ endpoint, elapsedMs }: { endpoint: EndpointHealth; elapsedMs: number }) {
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
          {isSilent && "silent: "}last accepted {formatAge(silentForMs + elapsedMs)} ago
        </span>
      )}
    </Card>
  );
}
