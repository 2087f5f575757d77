import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Semaphore } from "@flyte-ts/async";
import { runProgram } from "@flyte-ts/host";
import { NAME_LABEL, ownerOf, type SparkRole, type Submission, SUBMISSION_LABEL, type Submit } from "./application.js";

export interface SparkSubmitOptions {
  /** Path of `spark-submit`. */
  readonly command: string;
  readonly api: { readonly url: string; readonly token: string; readonly ca: string };
}

export interface SparkSubmit {
  readonly submit: Submit;
  stop(): Promise<void>;
}

type Role = "driver" | "executor";

/** Each submission needs a virtual machine of Java, and the processors are few. */
const CONCURRENCY = 2;
/** Timeout of calls to the Kubernetes API; a busy machine needs seconds to load their classes. */
const API_TIMEOUT_MS = 120_000;
/** The virtual machine lives for seconds. */
const JAVA_OPTIONS = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1";

/**
 * Submits applications with the real `spark-submit` in cluster mode, as the Spark operator does. It
 * creates the driver's pod, a Service and a ConfigMap.
 */
export function startSparkSubmit({ command, api }: SparkSubmitOptions): SparkSubmit {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-test-spark-"));
  const stopping = new AbortController();
  const semaphore = new Semaphore(CONCURRENCY);
  const running = new Set<Promise<unknown>>();
  const caCertFile = join(folder, "ca.pem");
  writeFileSync(caCertFile, api.ca);
  const access = { caCertFile, oauthToken: api.token };
  const run = async (submission: Submission) => {
    const writeTemplate = (role: Role) => {
      const file = join(folder, `${submission.id}-${role}.json`);
      writeFileSync(file, JSON.stringify(podTemplate(submission, role)));
      return file;
    };
    const conf = {
      ...submissionConf(submission),
      "spark.kubernetes.driver.podTemplateFile": writeTemplate("driver"),
      "spark.kubernetes.executor.podTemplateFile": writeTemplate("executor"),
      ...prefixed("spark.kubernetes.authenticate.submission.", access),
    };
    const { mainClass, mainApplicationFile = "", arguments: args = [] } = submission.application.spec;
    const mode = ["--master", `k8s://${api.url}`, "--deploy-mode", "cluster", "--name", submission.application.metadata.name];
    const main = [...(mainClass === undefined ? [] : ["--class", mainClass]), mainApplicationFile];
    const options = { env: sparkEnvironment(command), signal: stopping.signal };
    await runProgram(command, [...mode, ...confArgs(conf), ...main, ...args], options);
  };
  return {
    submit: (submission) => {
      const result = semaphore.run(() => run(submission));
      const settled = result.catch(() => undefined).finally(() => running.delete(settled));
      running.add(settled);
      return result;
    },
    stop: async () => {
      stopping.abort();
      await Promise.all(running);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Environment of `spark-submit`: it asks the first Python on the PATH for the folder of Spark. */
export function sparkEnvironment(command: string): NodeJS.ProcessEnv {
  const { PATH = "" } = process.env;
  return { ...process.env, PATH: `${dirname(command)}:${PATH}`, SPARK_SUBMIT_OPTS: JAVA_OPTIONS };
}

/** Settings that the operator derives from an application. */
function submissionConf({ application, driverName, id }: Submission): Record<string, string> {
  const { metadata, spec } = application;
  const labels = { [NAME_LABEL]: metadata.name, "sparkoperator.k8s.io/launched-by-spark-operator": "true", [SUBMISSION_LABEL]: id };
  return {
    "spark.kubernetes.namespace": metadata.namespace ?? "",
    "spark.kubernetes.submission.waitAppCompletion": "false",
    "spark.kubernetes.submission.connectionTimeout": String(API_TIMEOUT_MS),
    "spark.kubernetes.submission.requestTimeout": String(API_TIMEOUT_MS),
    "spark.kubernetes.driver.pod.name": driverName,
    ...defined({ "spark.kubernetes.container.image": spec.image }),
    ...spec.sparkConf,
    ...prefixed("spark.hadoop.", spec.hadoopConf),
    ...roleConf("driver", spec.driver),
    ...roleConf("executor", spec.executor ?? {}),
    ...prefixed("spark.kubernetes.driver.label.", labels),
    ...prefixed("spark.kubernetes.executor.label.", labels),
  };
}

function roleConf(role: Role, given: SparkRole): Record<string, string> {
  const { image, cores, memory, instances, serviceAccount, labels, annotations } = given;
  return {
    ...defined({
      [`spark.kubernetes.${role}.container.image`]: image,
      [`spark.kubernetes.authenticate.${role}.serviceAccountName`]: serviceAccount,
      [`spark.${role}.cores`]: cores,
      [`spark.${role}.memory`]: memory,
      [`spark.${role}.instances`]: instances,
    }),
    ...prefixed(`spark.kubernetes.${role}.label.`, labels),
    ...prefixed(`spark.kubernetes.${role}.annotation.`, annotations),
  };
}

/**
 * Fields of the pod of a role that no setting has; Spark completes the first container. Spark sets
 * the owner of executors itself.
 */
function podTemplate({ application }: Submission, role: Role): object {
  const { template, env = [] } = application.spec[role] ?? {};
  const { containers, ...rest } = template?.spec ?? { containers: [] };
  const [primary, ...others] = containers;
  const container = { ...primary, name: `spark-kubernetes-${role}`, env };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: role === "driver" ? { ownerReferences: [ownerOf(application)] } : {},
    spec: { ...rest, containers: [container, ...others] },
  };
}

function confArgs(conf: Readonly<Record<string, string>>): string[] {
  return Object.entries(conf).flatMap(([key, value]) => ["--conf", `${key}=${value}`]);
}

function prefixed(prefix: string, values: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [`${prefix}${key}`, value]));
}

function defined(values: Readonly<Record<string, string | number | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [[key, String(value)]])));
}
