/** Forms of each command; later lines of a form are indented. */
const FORMS = {
  start: [
    "start [--data DIR] [--port N] [--blobPort N] [--clusterPort N] [--kubeconfig FILE [--host ADDRESS]] [--s3 URL] [--bucket NAME] [--requirements FILE] [--auth] [--no-example] [--exit] [--config FILE]",
  ],
  python: [
    "python install [--data DIR] PACKAGE…",
    "python install [--data DIR] --extra spark|ray|dask",
    "python uninstall [--data DIR] PACKAGE…",
    "python list [--data DIR]",
  ],
  plugin: ["plugin add [--data DIR] ID TASK_TYPE…", "plugin remove [--data DIR] ID", "plugin list [--data DIR]"],
  import: [
    `import --from HOST:PORT --to HOST:PORT [--projects A,B] [--domains A,B] [--executions] [--activate unscheduled|all|none]
                       [--fromTokenFile FILE] [--toTokenFile FILE] [--concurrency N] [--report FILE]`,
  ],
  doctor: [
    "doctor [--admin ADDRESS] [--database URL] [--nats URL] [--blobs URI] [--s3 URL] [--kubeconfig FILE] [--context NAME] [--inCluster]",
  ],
  backup: [
    "backup --to FOLDER [--databases.admin URL] [--databases.datacatalog URL] [--databases.scheduler URL] [--kubeconfig FILE] [--context NAME] [--clusters LIST]",
  ],
  restore: ["restore --from FOLDER, and the same flags as backup"],
} as const;

type Command = keyof typeof FORMS;

/** Explanation of each command. */
const ABOUT: Readonly<Record<Command, string>> = {
  start: `  start   Runs the local stack (PostgreSQL, NATS, a blob store, the services, and a cluster
          whose pods are local processes) and an example workflow.
          --data        folder of all state; default: .flyte-ts in the repository
          --port, --blobPort, --clusterPort
                        ports of the API, the blob store and the cluster; 0 takes a free one
          --kubeconfig  uses another Kubernetes cluster; with --host its own nodes run the pods
                        and reach this machine at that address
          --s3          uses another S3 service with the keys in AWS_ACCESS_KEY_ID and
                        AWS_SECRET_ACCESS_KEY
          --bucket      bucket of all data
          --requirements  installs the packages of this pip requirements file for the stack's tasks
          --auth        requires sign-in
          --no-example  runs no example workflow
          --exit        stops after the example and returns its outcome as exit status
          --config      YAML file with these flags as keys`,
  python: `  python  Manages additional Python packages for the tasks of one local stack. The arguments are
          those of pip: names, versions, files, -r FILE. A running stack uses the packages for
          its next task.
          --extra  installs the packages of a plugin, unless the stack has them`,
  plugin: `  plugin  Lets a plugin service that runs beside one local stack use its message bus: add creates
          a user for the task types, and prints the file with the settings of the service. A
          running stack accepts the plugin at once.`,
  import: `  import  Copies projects, attributes, tasks, workflows, launch plans, descriptions and, with
          --executions, ended executions from one Flyte admin to another.`,
  doctor: `  doctor  Checks the named endpoints: connection, version, clock and permissions. Prints a remedy
          for each problem. The exit status is 1 when a check failed.`,
  backup: `  backup  Saves databases and FlyteWorkflow resources to a new folder while the services run;
          docs/guides/back-up-and-restore.md lists what else to save.`,
  restore: "  restore Restores a backup to empty databases and to data planes whose services are stopped.",
};

const isCommand = (name: string): name is Command => Object.hasOwn(FORMS, name);

/** Returns the usage of a command in one paragraph; undefined for an unknown command. */
export function usageOf(command: string): string | undefined {
  if (!isCommand(command)) return undefined;
  return `usage: ${FORMS[command].map((form) => `flyte-ts ${form}`).join("\n       ")}\n`;
}

/**
 * Returns usage and explanation of a command. Returns those of all commands when the command is
 * unknown or not given.
 */
export function helpText(command = ""): string {
  if (isCommand(command)) return `${usageOf(command) ?? ""}\n${ABOUT[command]}\n`;
  const sections = (Object.keys(FORMS) as Command[]).map((name) => {
    const forms = FORMS[name].map((form) => `       flyte-ts ${form}`).join("\n");
    return `${forms}\n\n${ABOUT[name]}\n`;
  });
  return `usage: ${sections.join("\n").trimStart()}
The flag --help after a command prints the help of that command alone.
`;
}
