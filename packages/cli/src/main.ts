#!/usr/bin/env node
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { describeError } from "./describe-error.js";
import { cacheDir } from "@flyte-ts/host";
import { UsageError } from "./usage-error.js";

const USAGE = `usage: flyte-ts start [--data DIR] [--port N] [--blobPort N] [--clusterPort N] [--kubeconfig FILE [--host ADDRESS]] [--s3 URL] [--bucket NAME] [--requirements FILE] [--no-example] [--exit] [--config FILE]

  start   Runs the local stack (PostgreSQL, NATS, a blob store, the services, and a cluster
          whose pods are local processes) and an example workflow.
          --kubeconfig  uses another Kubernetes cluster; with --host its own nodes run the pods
                        and reach this machine at that address
          --s3          uses another S3 service with the keys in AWS_ACCESS_KEY_ID and
                        AWS_SECRET_ACCESS_KEY
          --requirements  installs the packages of this pip requirements file for the stack's tasks
          --exit        stops after the example and returns its outcome as exit status

       flyte-ts python install [--data DIR] PACKAGE…
       flyte-ts python uninstall [--data DIR] PACKAGE…
       flyte-ts python list [--data DIR]

  python  Manages additional Python packages for the tasks of one local stack. The arguments are
          those of pip: names, versions, files, -r FILE. A running stack uses the packages for
          its next task.

       flyte-ts import --from HOST:PORT --to HOST:PORT [--projects A,B] [--domains A,B] [--executions] [--activate unscheduled|all|none]
                       [--fromTokenFile FILE] [--toTokenFile FILE] [--concurrency N] [--report FILE]

  import  Copies projects, attributes, tasks, workflows, launch plans, descriptions and, with
          --executions, ended executions from one Flyte admin to another.

       flyte-ts doctor [--admin ADDRESS] [--database URL] [--nats URL] [--blobs URI] [--s3 URL] [--kubeconfig FILE] [--context NAME] [--inCluster]

  doctor  Checks the named endpoints: connection, version, clock and permissions. Prints a remedy
          for each problem. The exit status is 1 when a check failed.

       flyte-ts backup --to FOLDER [--databases.admin URL] [--databases.datacatalog URL] [--databases.scheduler URL] [--kubeconfig FILE] [--context NAME] [--clusters LIST]
       flyte-ts restore --from FOLDER, and the same flags

  backup  Saves databases and FlyteWorkflow resources to a new folder while the services run;
          docs/guides/back-up-and-restore.md lists what else to save.
  restore Restores a backup to empty databases and to data planes whose services are stopped.

       flyte-ts watch [--endpoint HOST:PORT] PROJECT DOMAIN NAME
       flyte-ts logs [--endpoint HOST:PORT] [--attempt N] [--item N] [--container NAME] [--tail N] [--no-follow] [--times] PROJECT DOMAIN NAME NODE

  watch   Prints the progress of an execution until it ends.
  logs    Prints the log of a node's task, and follows it while the task runs.
          Both connect to --endpoint, FLYTE_PLATFORM_URL or localhost:30080, with the token in
          FLYTE_TS_TOKEN.
`;

async function main(argv: readonly string[]): Promise<number> {
  // Only the user who runs the command may read backups, secrets and logs.
  process.umask(0o077);
  enableCompileCache(join(cacheDir(), "node"));
  const [command, ...rest] = argv;
  // Each command loads only its own modules: clients and messages take 50 MiB and half a second.
  if (command === "start" && !rest.includes("--help")) return (await import("./start/start-command.js")).startCommand(rest);
  if (command === "import" && !rest.includes("--help")) return (await import("./import/command.js")).importCommand(rest);
  if (command === "doctor" && !rest.includes("--help")) {
    const { doctorCommand } = await import("./doctor/command.js");
    return doctorCommand(rest, (text) => process.stdout.write(text));
  }
  if ((command === "backup" || command === "restore") && !rest.includes("--help")) {
    const { backupCommand, restoreCommand } = await import("./backup/command.js");
    return (command === "backup" ? backupCommand : restoreCommand)(rest, (text) => process.stdout.write(text));
  }
  if (command === "python" && !rest.includes("--help")) {
    const status = await (await import("./python/command.js")).pythonCommand(rest, (text) => void process.stdout.write(text));
    if (status !== 2) return status;
  }
  const followsExecution = command === "watch" || command === "logs";
  if (followsExecution && !rest.includes("--help")) {
    const write = (text: string): void => void process.stdout.write(text);
    const status =
      command === "watch"
        ? await (await import("./watch/watch-command.js")).watchCommand(rest, write)
        : await (await import("./watch/logs-command.js")).logsCommand(rest, write);
    if (status !== 2) return status;
  }
  if (command === undefined || command === "help" || argv.includes("--help")) {
    process.stdout.write(USAGE);
    return 0;
  }
  const forms = usageForms(command);
  if (forms.length === 0) throw new UsageError(`unknown command ${JSON.stringify(command)}; flyte-ts --help lists all commands`);
  process.stderr.write(`usage: ${forms.join("\n       ")}\n`);
  return 2;
}

/** Forms of a command, from the usage. */
function usageForms(command: string): string[] {
  const lines = USAGE.split("\n").map((line) => line.replace(/^usage: /, "").trim());
  return lines.filter((line) => `${line} `.startsWith(`flyte-ts ${command} `));
}

main(process.argv.slice(2)).then(
  (status) => process.exit(status),
  (error: unknown) => {
    process.stderr.write(`flyte-ts: ${describeError(error)}\n`);
    process.exit(error instanceof UsageError ? 2 : 1);
  },
);
