import { execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { freePort } from "@flyte-ts/host";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { DesiredState, type TaskEvent, TaskEventSchema, type TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { integerLiteral, textLiteral } from "../literals.fixture.js";
import { bigQueryApi } from "./bigquery.fixture.js";
import { databricksApi } from "./databricks.fixture.js";
import { openAiApi } from "./openai.fixture.js";
import { connectorEnvironment } from "./python-environment.fixture.js";
import { PROGRAM, RealService } from "./real-service.fixture.js";
import { RemoteJobs } from "./remote-jobs.fixture.js";
import { sageMakerApi } from "./sagemaker.fixture.js";
import { serveApis, type StandInServer } from "./stand-in-server.fixture.js";

// `CONNECTORS=full`: all connectors; their environment has 600 MB.
const isFull = process.env.CONNECTORS === "full";
const plugins = isFull ? ["openai", "bigquery", "snowflake", "databricks", "sagemaker"] : ["openai"];
const SECRETS = /(bigquery|openai|databricks|aws)-secret-(token|key)/;
const PATIENCE = { timeout: 120_000, interval: 100 };

describe.skipIf(!existsSync(PROGRAM))(
  "connectors of flytekit's plugins",
  () => {
    const folder = mkdtempSync(join(tmpdir(), "flyte-ts-connectors-"));
    const jobs = new RemoteJobs();
    const servers: StandInServer[] = [];
    let service: RealService;

    beforeAll(async () => {
      const bin = await connectorEnvironment(isFull ? "all" : "openai");
      const { port } = await serveApis([openAiApi(jobs), bigQueryApi(jobs), sageMakerApi(jobs)]).then(keep);
      const environment = { ...cloudEnvironment(port), ...(isFull ? await databricksEnvironment() : {}) };
      const snowflake = `127.0.0.1:${await freePort()}`;
      service = new RealService({
        folder,
        bin,
        environment: { ...environment, SNOWFLAKE_STAND_IN: snowflake },
        // Connectors import their clients at the first call; the start is the better time.
        modules: isFull ? ["openai", "aiohttp", "aioboto3", "snowflake_stand_in"] : ["openai"],
      });
      if (isFull) service.spawn("fakesnow", ["-s", "-p", snowflake.slice(snowflake.indexOf(":") + 1)], "fakesnow.log");
      await service.start(plugins);
    }, 900_000);
    afterAll(async () => {
      await service.stop();
      for (const server of servers) await server.close();
      rmSync(folder, { recursive: true });
    });

    const keep = (server: StandInServer) => {
      servers.push(server);
      return server;
    };

    /** Addresses and credentials of clients with settings for them. */
    function cloudEnvironment(port: number): Record<string, string> {
      const url = `http://127.0.0.1:${port}`;
      const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
      const key = privateKey.export({ type: "pkcs8", format: "pem" }) as string;
      const account = join(folder, "google.json");
      const identity = { type: "service_account", project_id: "a-project", client_email: "a@b.example", token_uri: `${url}/token` };
      writeFileSync(account, JSON.stringify({ ...identity, private_key: key, private_key_id: "1", client_id: "1" }));
      return {
        OPENAI_BASE_URL: `${url}/v1`,
        _FSEC_FLYTE_OPENAI_API_KEY: "openai-secret-key",
        BIGQUERY_EMULATOR_HOST: url,
        GOOGLE_APPLICATION_CREDENTIALS: account,
        AWS_ENDPOINT_URL: url,
        AWS_ACCESS_KEY_ID: "an-id",
        AWS_SECRET_ACCESS_KEY: "aws-secret-key",
        _FSEC_SNOWFLAKE_PRIVATE_KEY: key,
      };
    }

    /** Serves Databricks over TLS, which its connector requires. */
    async function databricksEnvironment(): Promise<Record<string, string>> {
      const [keyFile, certFile] = [join(folder, "key.pem"), join(folder, "cert.pem")];
      const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
      const made = ["-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", keyFile, "-out", certFile];
      execFileSync("openssl", ["req", "-x509", ...made, ...subject], { stdio: "ignore" });
      const tls = { key: readFileSync(keyFile, "utf8"), cert: readFileSync(certFile, "utf8") };
      const { port } = await serveApis([databricksApi(jobs, writeOutputs)], tls).then(keep);
      return {
        DATABRICKS_INSTANCE: `localhost:${port}`,
        SSL_CERT_FILE: certFile,
        _FSEC_FLYTE_DATABRICKS_ACCESS_TOKEN: "databricks-secret-token",
      };
    }

    /** Writes the outputs of a Databricks run where its program is told to. */
    function writeOutputs(parameters: readonly string[]): void {
      const prefix = (parameters[parameters.indexOf("--output-prefix") + 1] ?? "").replace("file://", "");
      mkdirSync(prefix, { recursive: true });
      writeFileSync(
        join(prefix, "outputs.pb"),
        toBinary(LiteralMapSchema, create(LiteralMapSchema, { literals: { o0: integerLiteral(5) } })),
      );
    }

    const mode = (text: string) => ({ mode: textLiteral(text) });
    const linksOf = ({ event }: TaskEvent) => event?.logs.map(({ name, uri }) => `${name} ${uri}`);
    const errorOf = ({ event, failure }: TaskEvent) => {
      const error = event?.outputResult.case === "error" ? event.outputResult.value : undefined;
      return { recoverable: failure?.recoverable, message: error?.message };
    };
    /** Texts of outputs: flytekit packs dictionaries into bytes. */
    const outputsOf = ({ outputs }: TaskEvent) =>
      outputs === undefined ? "" : Buffer.from(toBinary(LiteralMapSchema, outputs)).toString("latin1");
    /** Starts a task without an end, and aborts it. */
    const abortRunning = async (request: TaskRequest, remote: string) => {
      await service.run(request, Phase.RUNNING);
      await service.send(request, DesiredState.ABORT);
      await service.reached(request, Phase.ABORTED);
      expect(jobs.cancelled).toContain(remote);
    };

    it("ChatGPT answers within one call, or the attempt fails with the reason", async () => {
      const asked = (text: string) => service.request("chatgpt", `chat-${text}`, { message: textLiteral(text) });
      const answered = await service.run(asked("hello"), Phase.SUCCEEDED);
      expect(outputsOf(answered)).toContain("gpt-4o of org-1 heard hello");
      const refused = await service.run(asked("fail"), Phase.FAILED);
      expect(errorOf(refused)).toMatchObject({ recoverable: true, message: expect.stringContaining("this question is not allowed") });
    });

    it("a batch of OpenAI succeeds with its description, fails with the reason, and is cancelled", async () => {
      const batch = (text: string) => service.request("openai-batch", `batch-${text}`, { input_file_id: textLiteral(text) });
      const done = await service.run(batch("succeed-batch"), Phase.SUCCEEDED);
      expect(outputsOf(done)).toContain("file-out");
      const failed = await service.run(batch("fail-batch"), Phase.FAILED);
      expect(errorOf(failed)).toEqual({ recoverable: false, message: "failed to run the job: line 7 of the file is no JSON" });
      await abortRunning(batch("endless-batch"), "endless-batch");
    });

    it.runIf(isFull)("a query of BigQuery gives its table and a link, fails with the reason, and is cancelled", async () => {
      const query = (text: string) => service.request("bigquery", `bq-${text}`, { ...mode(text), count: integerLiteral(3) });
      const done = await service.run(query("succeed-query"), Phase.SUCCEEDED);
      expect(outputsOf(done)).toMatch(/bq:\/\/a-project:anonymous\./);
      expect(linksOf(done)).toEqual([expect.stringMatching(/^BigQuery Console https:\/\/console\.cloud\.google\.com\/.*a-project.*EU/)]);
      const failed = await service.run(query("fail-query"), Phase.FAILED);
      expect(errorOf(failed)).toMatchObject({ recoverable: false, message: expect.stringContaining("the query has failed") });
      await abortRunning(query("endless-query"), "endless-query");
    });

    it.runIf(isFull)("a query of Snowflake gives a result and a link, and a wrong one fails", async () => {
      const count = { count: integerLiteral(7) };
      const done = await service.run(service.request("snowflake", "snow", count), Phase.SUCCEEDED);
      // This version of the connector pickles the literal of its result into a file.
      expect(Object.keys(done.outputs?.literals ?? {})).toEqual(["results"]);
      expect(linksOf(done)).toEqual([expect.stringMatching(/^Snowflake Query Details https:\/\/app\.snowflake\.com\/account\/org\//)]);
      const failed = await service.run(service.request("snowflake-failing", "snow-failing", count), Phase.FAILED);
      expect(errorOf(failed).message).toBeTruthy();
    });

    it.runIf(isFull)(
      "a run of Databricks gives the outputs of its program and a link, fails with the reason, and is cancelled",
      async () => {
        const run = (text: string) => service.request("databricks_job", `db-${text}`, { a: integerLiteral(4) }, text);
        const done = await service.run(run("succeed-run"), Phase.SUCCEEDED);
        expect(done.outputs?.literals.o0).toMatchObject(integerLiteral(5));
        expect(linksOf(done)).toEqual([expect.stringMatching(/^Databricks Console https:\/\/localhost:\d+\/#job\/7\/run\/\d+$/)]);
        const failed = await service.run(run("fail-run"), Phase.FAILED);
        expect(errorOf(failed)).toEqual({ recoverable: false, message: "failed to run the job: the driver has failed" });
        await abortRunning(run("endless-run"), "endless-run");
      },
    );

    it.runIf(isFull)("a training job of SageMaker gives its model, fails, and is stopped", async () => {
      const training = (text: string) => service.request("sagemaker-training", text, mode(text));
      const done = await service.run(training("succeed-training"), Phase.SUCCEEDED);
      expect(outputsOf(done)).toContain("s3://a-bucket/models/succeed-training/model.tar.gz");
      const failed = await service.run(training("fail-training"), Phase.FAILED);
      expect(errorOf(failed)).toMatchObject({ recoverable: false, message: expect.stringContaining("AlgorithmError: no data") });
      await abortRunning(training("endless-training"), "endless-training");
    });

    it.runIf(isFull)("an endpoint of SageMaker gives its name, fails with the reason, and is deleted by an abort alone", async () => {
      const endpoint = (text: string) => service.request("sagemaker-endpoint", text, mode(text));
      const kept = endpoint("succeed-endpoint");
      expect(outputsOf(await service.run(kept, Phase.SUCCEEDED))).toContain("endpoint/succeed-endpoint");
      const failed = await service.run(endpoint("fail-endpoint"), Phase.FAILED);
      expect(errorOf(failed)).toEqual({ recoverable: false, message: "failed to run the job: no capacity" });
      await abortRunning(endpoint("endless-endpoint"), "endless-endpoint");
      await service.send(kept, DesiredState.ABORT);
      await vi.waitFor(
        () => expect(service.eventsOf(kept).filter(({ event }) => event?.phase === Phase.SUCCEEDED).length).toBeGreaterThan(1),
        PATIENCE,
      );
      expect(jobs.cancelled).not.toContain("succeed-endpoint");
    });

    it.runIf(isFull)("a synchronous call of SageMaker gives its answer, or fails with the reason", async () => {
      const model = (text: string) => service.request("sagemaker-model", text, mode(text));
      expect(outputsOf(await service.run(model("a-model"), Phase.SUCCEEDED))).toContain("model/a-model");
      const failed = await service.run(model("fail-model"), Phase.FAILED);
      expect(errorOf(failed).message).toContain("the image does not exist");
    });

    it("no secret is in an event, in the state of an attempt or in the log of the service", () => {
      const events = service.events.map((event) => Buffer.from(toBinary(TaskEventSchema, event)).toString("latin1"));
      const states = service.events.map(({ pluginState }) => Buffer.from(pluginState).toString());
      const decoded = states.map((state) =>
        Buffer.from((JSON.parse(state || "{}") as { meta?: string }).meta ?? "", "base64").toString("latin1"),
      );
      expect(events.length).toBeGreaterThan(5);
      for (const text of [...events, ...states, ...decoded, service.log()]) expect(text).not.toMatch(SECRETS);
      expect(new Set(jobs.modes).size).toBe(jobs.modes.length);
    });
  },
  isFull ? 900_000 : 300_000,
);
