import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { toBinary } from "@bufbuild/protobuf";
import { integerLiteral, literalMap } from "@flyte-ts/domain/literal";
import { runProgram } from "@flyte-ts/host";
import { type Literal, LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { DesiredState, type TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { LocalServer } from "@flyte-ts/local-servers";
import { findSparkPython, startSparkThriftServer } from "@flyte-ts/test-servers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { outcome, ServiceProcess } from "../stand-in/server/service.fixture.js";
import { hiveRequest } from "../stand-in/tasks.fixture.js";

const TIMEOUT_MS = 300_000;
const READ_RESULTS = fileURLToPath(new URL("../../python/read_results.py", import.meta.url));

// `HIVE=full`: PySpark has hundreds of megabytes, and its server takes a minute to start.
describe.skipIf(process.env.HIVE !== "full")("hive tasks in Spark's Thrift server", { timeout: TIMEOUT_MS }, () => {
  let folder: string;
  let python: string;
  let server: LocalServer;
  let service: ServiceProcess;
  let started = 0;

  /** A query with a name and files of its own, in the database `shop` once it exists. */
  const query = (statement: string, { database = "shop", outputs, ...over }: QueryOptions = {}): TaskRequest => {
    const generatedName = `query-${started++}-n0-0`;
    const files = { outputPrefix: `s3://bucket/${generatedName}/0`, rawOutputPrefix: `file://${folder}/${generatedName}` };
    const request = hiveRequest(statement, { generatedName, ...files, ...over }, outputs);
    if (request.template?.custom !== undefined) request.template.custom.clusterLabel = database;
    return request;
  };
  const run = async (request: TaskRequest) => {
    await service.send(request);
    const [end] = await service.endsOf([request]);
    if (end === undefined) throw new Error("the query has no end");
    return end;
  };
  /** Reads a dataset with flytekit, as a Python task does. */
  const rowsOf = async (literal: Literal | undefined): Promise<unknown> => {
    const file = join(folder, "results.pb");
    writeFileSync(file, literal === undefined ? "" : toBinary(LiteralSchema, literal));
    return JSON.parse(await runProgram(python, [READ_RESULTS, file]));
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "flyte-ts-test-spark-"));
    python = await findSparkPython();
    server = await startSparkThriftServer({ python, folder: join(folder, "spark") });
    service = await new ServiceProcess({ hive: { endpoint: server.url, poll: { initialMs: 200, maxMs: 1_000 } } }).start();
    const statements = [
      "CREATE DATABASE shop",
      "CREATE TABLE shop.letters (letter STRING, count INT) STORED AS PARQUET",
      "CREATE TABLE shop.naps (slept STRING) STORED AS PARQUET",
      "INSERT INTO shop.letters VALUES ('a', 3), ('b', 5), ('c; d', 7)",
    ];
    const end = outcome(await run(query(statements.join(";\n"), { database: "default", outputs: {} })));
    if (end !== "SUCCEEDED") throw new Error(`the tables cannot be created: ${end}`);
  }, 1_800_000);

  afterAll(async () => {
    await service?.stop();
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it("writes the rows of a query as Parquet, which a Python task reads", async () => {
    const inputs = literalMap([["least", integerLiteral(5)]]);
    const statement = "SELECT letter, count * 2 AS twice FROM letters WHERE count >= {{ .inputs.least }} ORDER BY letter";
    const end = await run(query(statement, { inputs }));
    expect(outcome(end)).toBe("SUCCEEDED");
    expect(await rowsOf(end.outputs?.literals.results)).toEqual([
      { letter: "b", twice: 10 },
      { letter: "c; d", twice: 14 },
    ]);
  });

  it("runs the statements of one query in one session, and the last may begin with WITH", async () => {
    const view = "CREATE TEMPORARY VIEW few AS SELECT * FROM letters WHERE count < 4";
    const end = await run(query(`${view};\nWITH all_of AS (SELECT letter FROM few) SELECT letter, 'x' AS mark FROM all_of`));
    expect(await rowsOf(end.outputs?.literals.results)).toEqual([{ letter: "a", mark: "x" }]);
  });

  it.each([
    ["a syntax error", "SELEC 1", /^FAILED: permanent USER HiveError42601: .*PARSE_SYNTAX_ERROR/s],
    ["an unknown column", "SELECT missing FROM letters", /^FAILED: permanent USER HiveError42703: .*UNRESOLVED_COLUMN/s],
    ["an unknown table", "SELECT 1 FROM missing", /^FAILED: permanent USER HiveError42P01: .*TABLE_OR_VIEW_NOT_FOUND/s],
    ["bad data", "SELECT CAST(letter AS INT) FROM letters", /^FAILED: permanent USER HiveError22018: .*CAST_INVALID_INPUT/s],
  ])("fails for good with %s", async (_, statement, expected) => {
    expect(outcome(await run(query(statement)))).toMatch(expected);
  });

  it("fails for good in a database that does not exist", async () => {
    expect(outcome(await run(query("SELECT 1", { database: "missing" })))).toMatch(/^FAILED: permanent USER .*missing/s);
  });

  it("an abort cancels the query and frees the server's only thread", async () => {
    const endless = query("SELECT count(*) AS n FROM range(1000000000) a CROSS JOIN range(1000000000) b");
    await service.send(endless);
    await service.until(Phase.RUNNING);
    await service.send({ ...endless, abortReason: "enough" }, DesiredState.ABORT);
    expect((await service.endsOf([endless])).map(outcome)).toEqual(["ABORTED"]);
    expect(outcome(await run(query("SELECT 1 AS one")))).toBe("SUCCEEDED");
  });

  it("a query goes on while the service restarts, and runs once", async () => {
    const request = query("INSERT INTO naps SELECT reflect('java.lang.Thread', 'sleep', CAST(5000 AS BIGINT))", { outputs: {} });
    await service.send(request);
    await service.until(Phase.RUNNING);
    await service.restart();
    const end = await run({ ...request, pluginState: service.eventsOf(request).at(-1)?.pluginState ?? new Uint8Array() });
    expect(outcome(end)).toBe("SUCCEEDED");
    const counted = await run(query("SELECT count(*) AS naps FROM naps"));
    expect(await rowsOf(counted.outputs?.literals.results)).toEqual([{ naps: 1 }]);
  });
});

interface QueryOptions {
  readonly database?: string;
  readonly outputs?: Parameters<typeof hiveRequest>[2];
  readonly inputs?: TaskRequest["inputs"];
}
