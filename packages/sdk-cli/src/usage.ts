/** Forms of each verb; later lines of a form are indented. */
const FORMS = {
  init: ["init [--yes] [--no-install] [--project NAME] [--domain NAME] [FOLDER]"],
  run: ["run [--remote [--wait] [--version V]] [--inputs FILE] [--signal NAME=VALUE…] FILE EXPORT [--INPUT VALUE…]"],
  dev: ["dev [--remote] [--inputs FILE] [FILE EXPORT [--INPUT VALUE…]]"],
  check: ["check"],
  register: ["register [--version V] [--dry-run] [--activate]"],
  package: ["package --out DIR [--version V]"],
  generate: ["generate --out FILE [--kind task|workflow|launchplan…] [--match PATTERN] [--version pin|latest|V] [--check]"],
  launch: ["launch [--endpoint HOST:PORT] FILE"],
  watch: ["watch [--endpoint HOST:PORT] PROJECT DOMAIN NAME"],
  logs: [
    "logs [--endpoint HOST:PORT] [--attempt N] [--item N] [--container NAME] [--tail N] [--no-follow] [--times] PROJECT DOMAIN NAME NODE",
  ],
  login: ["login [--device] [--endpoint URL]"],
  logout: ["logout [--endpoint URL]"],
} as const;

type Verb = keyof typeof FORMS;

const CONNECTION = `          Connects to --endpoint, FLYTE_PLATFORM_URL or localhost:30080, with the token in
          FLYTE_TS_TOKEN; without it signs in as flyte-ts login, the FLYTE_CREDENTIALS_… variables
          or ~/.flyte/config.yaml say.`;
const PROJECT = `          Reads flyte.config.ts of this folder or of one above it; --project, --domain, --endpoint
          and --image replace its settings.`;

/** Explanation of each verb. */
const ABOUT: Readonly<Record<Verb, string>> = {
  init: `  init    Writes a project with a workflow and its tests to FOLDER or this folder, and installs its
          packages. Files that exist stay as they are; package.json receives what it lacks.
          --yes         asks nothing
          --no-install  installs nothing
          --project, --domain  for flyte.config.ts; default: flytesnacks, development`,
  run: `  run     Runs a workflow or task in this process, and prints its nodes and outputs. Inputs are
          flags, JSON for all that is no text, number or boolean. Outputs of cached tasks are kept in
          .flyte-ts/cache.
          --remote  registers the module with those that it imports, and starts an execution
                    instead
          --wait    with --remote: follows the execution, prints its outputs, and returns its
                    outcome as exit status
          --version  with --remote: registers the whole project with this version
          --inputs  JSON file with the inputs
          --signal  answers a gate of a local run
${PROJECT}`,
  dev: `  dev     Checks types and workflows after each save, and then runs the workflow or task in this
          process. Ctrl-C ends it.
          --remote  registers the project instead, starts an execution, and follows it
          --inputs  JSON file with the inputs
${PROJECT}`,
  check: `  check   Checks the types with the project's TypeScript, bundles the project, loads it in an empty
          folder, and compiles its workflows as the server does. Needs no server.
${PROJECT}`,
  register: `  register  Bundles the project and registers its tasks, workflows and launch plans. Sends nothing
          when the server has them.
          --version   default: a hash of code, image and settings; the server refuses other code under
                      a version that it has
          --dry-run   prints what would be registered
          --activate  activates the launch plans with active: true
${PROJECT}`,
  package: `  package Writes the bundle and the messages that flytectl register files takes.
          --out  new or empty folder
${PROJECT}`,
  generate: `  generate  Writes references to registered entities, of any language, as TypeScript: their names,
          versions and types.
          --kind     default: task and launchplan
          --match    names; * stands for any text
          --version  pin: the newest, written to the file; latest: looked up at registration
          --check    writes nothing; the exit status is 1 when an interface differs from the file
${PROJECT}`,
  launch: `  launch  Starts the execution that FILE describes and prints its name. FILE is the JSON of an
          ExecutionCreateRequest, as the console shows it; - reads the standard input.
${CONNECTION}`,
  watch: `  watch   Prints the progress of an execution until it ends: a line for each change of a node, a
          task attempt or the execution. The exit status is 0 when it succeeded.
${CONNECTION}`,
  logs: `  logs    Prints the log of a node's task, and follows it while the task runs. NODE is an id that
          watch prints, such as n0.
          --attempt    number of the attempt, from 0; default: the latest
          --item       index of the item, from 0, for a node that maps a task over a list
          --container  name of the container; default: the one that runs the task's code
          --tail       starts with the last N lines
          --no-follow  ends at the current end of the log
          --times      prints the time of each line
${CONNECTION}`,
  login: `  login   Signs in, and keeps the tokens for later commands and programs of this user, in
          FLYTE_TS_TOKEN_CACHE or ~/.flyte/flyte-ts-tokens.json. Opens the sign-in page in the
          browser, which returns to this machine.
          --device    prints a code to enter in the browser of any machine instead
          --endpoint  default: FLYTE_PLATFORM_URL, then admin.endpoint of ~/.flyte/config.yaml,
                      then localhost:30080`,
  logout: `  logout  Forgets the tokens of login.
          --endpoint  as for login`,
};

const isVerb = (name: string): name is Verb => Object.hasOwn(FORMS, name);

/** Returns the usage of a verb in one paragraph; undefined for an unknown one. */
export function usageOf(verb: string): string | undefined {
  if (!isVerb(verb)) return undefined;
  return `usage: ${FORMS[verb].map((form) => `flyte-ts ${form}`).join("\n       ")}\n`;
}

/** Returns usage and explanation of a verb; those of all verbs without one. */
export function helpText(verb = ""): string {
  if (isVerb(verb)) return `${usageOf(verb) ?? ""}\n${ABOUT[verb]}\n`;
  const sections = (Object.keys(FORMS) as Verb[]).map((name) => {
    const forms = FORMS[name].map((form) => `       flyte-ts ${form}`).join("\n");
    return `${forms}\n\n${ABOUT[name]}\n`;
  });
  return `usage: ${sections.join("\n").trimStart()}
The flag --help after a verb prints the help of that verb alone.
`;
}
