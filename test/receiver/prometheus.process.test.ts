import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { metrics } from "@opentelemetry/api";
import { PrometheusExporter } from "@opentelemetry/exporter-prometheus";
import { MeterProvider } from "@opentelemetry/sdk-metrics";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { DoNotRetry, PigeonholeError, type Store } from "pigeonhole";
import { METRICS } from "#pigeonhole/receiver/metrics.js";
import { makeFolder } from "../support/folder.js";
import { type Sample, groupedBy, matches, parseSamples, selectorsOf } from "../support/promql.js";
import { decorateStore, tempFile, untilWork } from "../support/receiver.js";
import { postUntil, startReceiver } from "../support/start-receiver.js";
import { isInstalled } from "../support/tools.js";

const DOCS = resolve(import.meta.dirname, "../../docs");
const ALERTS = join(DOCS, "prometheus-alerts.yml");

const exporter = new PrometheusExporter({ preventServerStart: true });
const server = createServer((request, response) => exporter.getMetricsRequestHandler(request, response));

beforeAll(async () => {
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [exporter] }));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(async () => {
  server.close();
  await exporter.shutdown();
  metrics.disable();
});

async function scrape(): Promise<Sample[]> {
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  return parseSamples(await response.text());
}

const Dashboard = z.object({ panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })) })) });

function readDashboard(): string[] {
  const { panels } = Dashboard.parse(JSON.parse(readFileSync(join(DOCS, "grafana-dashboard.json"), "utf8")));
  return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
}

/** Each expression is one line. */
function readAlerts(): string[] {
  return [...readFileSync(ALERTS, "utf8").matchAll(/^ {8}expr: (.+)$/gm)].map(([, expression = ""]) => expression);
}

const UNIT_SUFFIXES: Readonly<Record<string, string>> = { s: "_seconds", By: "_bytes" };

/** The sample as the OpenTelemetry Collector names it. */
function withUnit(sample: Sample): Sample {
  const [suffix = ""] = /_(?:bucket|count|sum)$/.exec(sample.name) ?? [];
  const base = sample.name.slice(0, sample.name.length - suffix.length);
  const unit = METRICS.find(({ name }) => name.replaceAll(".", "_") === base)?.unit ?? "";
  return { ...sample, name: `${base}${UNIT_SUFFIXES[unit] ?? ""}${suffix}` };
}

describe("a receiver behind a Prometheus endpoint", () => {
  let samples: Sample[] = [];

  test("shows every metric", async () => {
    let refusals = 1;
    const refuse = () => Promise.reject(new PigeonholeError("store_busy", "locked"));
    const over = (real: Store): Partial<Store> => ({
      saveStep: (...args) => (refusals-- > 0 ? refuse() : real.saveStep(...args)),
    });
    const receiver = await startReceiver(
      { telemetry: true, store: decorateStore(over, tempFile()) },
      {
        "email.sent": () => Promise.reject(new DoNotRetry("no")),
        "email.*": () => undefined,
        "*": (_, { step }) => step("s", () => 1),
      },
    );
    const { id } = await postUntil(receiver, { state: "dead" });
    for (const done of ["email.*", "*"]) await untilWork(receiver, id, { state: "done" }, done);
    samples = await scrape();
    const names = new Set(samples.map(({ name }) => name.replace(/_(total|bucket)$/, "")));
    expect(METRICS.map(({ name }) => name.replaceAll(".", "_")).filter((name) => !names.has(name))).toEqual([]);
  });

  test.each([
    ["docs/grafana-dashboard.json", "as they are", readDashboard(), 20],
    ["docs/grafana-dashboard.json", "with units", readDashboard(), 20],
    ["docs/prometheus-alerts.yml", "as they are", readAlerts(), 9],
    ["docs/prometheus-alerts.yml", "with units", readAlerts(), 9],
  ])("has every metric and label that %s uses, the names %s", (_, names, expressions, least) => {
    expect(expressions.length).toBeGreaterThanOrEqual(least);
    const shown = names === "with units" ? samples.map(withUnit) : samples;
    for (const expression of expressions) {
      const chosen = selectorsOf(expression).map((selector) => shown.filter((sample) => matches(selector, sample)));
      expect(chosen, expression).not.toEqual([]);
      for (const these of chosen) {
        expect(these, expression).not.toEqual([]);
        for (const label of groupedBy(expression)) {
          expect(
            these.flatMap(({ labels }) => [...labels.keys()]),
            expression,
          ).toContain(label);
        }
      }
    }
  });
});

test("a metric or a label that does not exist is found missing", () => {
  const [sample] = parseSamples('pigeonhole_work{state="dead"} 1\n');
  expect(sample).toEqual({ name: "pigeonhole_work", labels: new Map([["state", "dead"]]), value: 1 });
  const found = (expression: string): boolean[] =>
    selectorsOf(expression).map((selector) => sample !== undefined && matches(selector, sample));
  expect(found('sum by (job) (pigeonhole_work{state="dead"}) > 0')).toEqual([true]);
  expect(found("max(pigeonhole_works) > 0 or pigeonhole_work")).toEqual([false, true]);
  expect(found('{__name__=~"pigeonhole_work(_seconds)?",job=~"$job",kind!=""}')).toEqual([false]);
  expect(groupedBy("sum by (job, kind) (pigeonhole_work)")).toEqual(["kind"]);
});

test.runIf(isInstalled("promtool"))("promtool accepts the alert rules, and they fire when they must", () => {
  const check = spawnSync("promtool", ["check", "rules", ALERTS], { encoding: "utf8" });
  expect(check.stdout + check.stderr).toContain("SUCCESS: 9 rules found");
  const fire = spawnSync("promtool", ["test", "rules", join(import.meta.dirname, "prometheus-alerts.test.yml")]);
  expect(fire.stdout.toString() + fire.stderr.toString()).toContain("SUCCESS");
  expect([check.status, fire.status]).toEqual([0, 0]);
});

test.runIf(isInstalled("promtool"))("promtool accepts what the dashboard asks for", () => {
  const rules = readDashboard().map((expression, index) => ({
    record: `panel_${index}`,
    expr: expression.replaceAll("$__rate_interval", "5m"),
  }));
  const file = join(makeFolder(), "rules.yml");
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ groups: [{ name: "dashboard", rules }] }));
  const check = spawnSync("promtool", ["check", "rules", file], { encoding: "utf8" });
  expect(check.stdout + check.stderr).toContain(`SUCCESS: ${rules.length} rules found`);
});
