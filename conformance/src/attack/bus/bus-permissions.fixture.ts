/** Users of the bus, named as in `deploy/bus/users.json`. */
export const USERS = ["admin", "propeller", "plugin-pod", "plugin-echo", "plugin-connector", "plugin-operator", "plugin-web-api"] as const;

export type User = (typeof USERS)[number];

const STREAMS = ["FLYTE_TASKS", "FLYTE_EVENTS", "FLYTE_PROBES", "FLYTE_DEAD_LETTERS", "FLYTE_HELD", "KV_settings", "OTHER"];

/** Consumers with the user that takes their messages. */
const CONSUMERS: readonly { readonly stream: string; readonly name: string; readonly user: User }[] = [
  { stream: "FLYTE_EVENTS", name: "admin-ingest", user: "admin" },
  { stream: "FLYTE_EVENTS", name: "propeller-1", user: "propeller" },
  { stream: "FLYTE_TASKS", name: "plugin-echo", user: "plugin-echo" },
  { stream: "FLYTE_TASKS", name: "plugin-core-sleep", user: "plugin-echo" },
  { stream: "FLYTE_TASKS", name: "plugin-python-task", user: "plugin-pod" },
  { stream: "FLYTE_TASKS", name: "plugin-pytorch", user: "plugin-operator" },
  { stream: "FLYTE_TASKS", name: "plugin-aws-batch", user: "plugin-web-api" },
  { stream: "FLYTE_TASKS", name: "plugin-unserved", user: "plugin-connector" },
];

/** Subjects on which plugin services announce one of their task types. */
const TYPE_ANNOUNCEMENTS: readonly string[] = ["echo", "python-task", "pytorch", "aws-batch", "unserved"].map(
  (taskType) => `flyte.plugin.hello.${taskType}`,
);

/** Subjects on which plugin services announce all of their task types, or one. */
const ANNOUNCEMENTS: readonly string[] = ["flyte.plugin.hello", ...TYPE_ANNOUNCEMENTS];

/** A task type that a plugin service of a named data plane announces. */
const ANNOUNCEMENT_OF_DATA_PLANE = "flyte.plugin.at.east.hello.echo";

const MESSAGES = [
  "flyte",
  "other",
  "flyte.other",
  "flyte.task.echo.3",
  "flyte.task.core-sleep.3",
  "flyte.task.python-task.3",
  "flyte.task.at.east.echo.3",
  "flyte.task.3",
  "flyte.event.execution.3",
  "flyte.event.task.3",
  "flyte.event.other.3",
  "flyte.event.task.3.4",
  "flyte.event.at.east.execution.3",
  "flyte.event.at.east.task.3",
  "flyte.recorded.3",
  "flyte.recorded.3.4",
  "flyte.wake.3",
  "flyte.wake",
  "flyte.admin.changed",
  "flyte.admin.other",
  ...ANNOUNCEMENTS,
  "flyte.plugin.other",
  "flyte.plugin.at.east.hello",
  ANNOUNCEMENT_OF_DATA_PLANE,
  ...USERS.map((user) => `flyte.probe.${user}`),
  "flyte.probe.scheduler",
  ...CONSUMERS.flatMap(({ name }) => [`flyte.dead.${name}.7`, `flyte.held.${name}.7.held.1`]),
  "flyte.dead",
  "flyte.held",
];

const SERVER = [
  ...USERS.map((user) => `_INBOX.${user}.x.1`),
  "_INBOX.x",
  "_R_.x",
  "$SYS.REQ.SERVER.PING",
  "$SYS.REQ.ACCOUNT.PING.CONNZ",
  "$SYS.REQ.USER.INFO",
  "$SYS.REQ.CLAIMS.UPDATE",
  "$SYS.ACCOUNT.$G.CONNECT",
  "$KV.settings.key",
  "$O.objects.C.x",
  "$JS.FC.x",
  "$JS.EVENT.ADVISORY.API",
];

const API = [
  "INFO",
  "STREAM.NAMES",
  "STREAM.LIST",
  "ACCOUNT.PURGE.x",
  "META.LEADER.STEPDOWN",
  "SERVER.REMOVE",
  "STREAM.TEMPLATE.CREATE.x",
  "CONSUMER.DELETE.FLYTE_TS_DOCTOR.nobody",
  ...STREAMS.flatMap((stream) => [
    ...["CREATE", "UPDATE", "INFO", "DELETE", "PURGE", "SNAPSHOT", "RESTORE", "MSG.GET", "MSG.DELETE"].map(
      (call) => `STREAM.${call}.${stream}`,
    ),
    ...["LEADER.STEPDOWN", "PEER.REMOVE"].map((call) => `STREAM.${call}.${stream}`),
    `DIRECT.GET.${stream}`,
    `DIRECT.GET.${stream}.flyte.task.echo.3`,
    `DIRECT.GET.${stream}.flyte.dead.plugin-echo.7`,
    `CONSUMER.CREATE.${stream}`,
    `CONSUMER.NAMES.${stream}`,
    `CONSUMER.LIST.${stream}`,
    `CONSUMER.DURABLE.CREATE.${stream}.intruder.x`,
  ]),
  ...CONSUMERS.flatMap(({ stream, name }) => [
    ...["DURABLE.CREATE", "CREATE", "INFO", "PAUSE", "MSG.NEXT"].map((call) => `CONSUMER.${call}.${stream}.${name}`),
    `CONSUMER.CREATE.${stream}.${name}.flyte.task.echo.3`,
    `CONSUMER.LEADER.STEPDOWN.${stream}.${name}`,
  ]),
].map((call) => `$JS.API.${call}`);

const ACKNOWLEDGEMENTS = CONSUMERS.flatMap(({ stream, name }) => [
  `$JS.ACK.${stream}.${name}.1.1.1.1.1`,
  `$JS.ACK._.hash.${stream}.${name}.1.1.1.1.1.token`,
]);

/** Subjects on which the test publishes as each user. */
export const PUBLISHED_SUBJECTS: readonly string[] = [...MESSAGES, ...SERVER, ...API, ...ACKNOWLEDGEMENTS];

/** Users whose consumers have names that are unknown in advance. */
const WILDCARD_USERS: readonly User[] = ["propeller", "plugin-connector"];

/** Subjects that each user may publish on for its own messages. */
const PUBLISHED_BY_USER: Readonly<Record<User, readonly string[]>> = {
  admin: ["flyte.recorded.3", "flyte.wake.3", "flyte.admin.changed"],
  propeller: ["flyte.task.echo.3", "flyte.task.core-sleep.3", "flyte.task.python-task.3", "flyte.event.execution.3", "flyte.event.task.3"],
  "plugin-pod": ["flyte.event.task.3", "flyte.plugin.hello", "flyte.plugin.hello.python-task"],
  "plugin-echo": ["flyte.event.task.3", "flyte.plugin.hello", "flyte.plugin.hello.echo"],
  "plugin-connector": ["flyte.event.task.3", "flyte.plugin.hello", "flyte.plugin.hello.unserved"],
  "plugin-operator": ["flyte.event.task.3", "flyte.plugin.hello", "flyte.plugin.hello.pytorch"],
  "plugin-web-api": ["flyte.event.task.3", "flyte.plugin.hello", "flyte.plugin.hello.aws-batch"],
};

/**
 * Calls of the JetStream API that change streams or consumers, by user. Plugin services change no
 * stream.
 */
const JETSTREAM_CALLS: Readonly<Record<User, readonly RegExp[]>> = {
  admin: [/^STREAM\.(CREATE|UPDATE)\.FLYTE_(EVENTS|PROBES|DEAD_LETTERS|HELD)$/, /^STREAM\.INFO\.FLYTE_(EVENTS|HELD)$/],
  propeller: [/^STREAM\.(CREATE|UPDATE)\.FLYTE_(TASKS|EVENTS|PROBES|DEAD_LETTERS|HELD)$/, /^STREAM\.INFO\.FLYTE_(TASKS|EVENTS|HELD)$/],
  "plugin-pod": [/^STREAM\.INFO\.FLYTE_/],
  "plugin-echo": [/^STREAM\.INFO\.FLYTE_/],
  "plugin-connector": [/^STREAM\.INFO\.FLYTE_/, /^CONSUMER\.LIST\.FLYTE_TASKS$/],
  "plugin-operator": [/^STREAM\.INFO\.FLYTE_/],
  "plugin-web-api": [/^STREAM\.INFO\.FLYTE_/],
};

/**
 * Reports whether the service of a user needs to publish on a subject of
 * {@link PUBLISHED_SUBJECTS}.
 */
export function mayPublish(user: User, subject: string): boolean {
  if (PUBLISHED_BY_USER[user].includes(subject) || subject === `flyte.probe.${user}`) return true;
  const own = CONSUMERS.filter((consumer) => consumer.user === user);
  // A user with unknown consumer names has a permission with a wildcard, so it also covers the
  // consumers of the other such users.
  const deadLetterSubjects = WILDCARD_USERS.includes(user) ? CONSUMERS.filter((consumer) => WILDCARD_USERS.includes(consumer.user)) : own;
  if (deadLetterSubjects.some(({ name }) => subject.startsWith(`flyte.dead.${name}.`) || subject.startsWith(`flyte.held.${name}.`)))
    return true;
  if (own.some(({ stream, name }) => subject.startsWith("$JS.ACK.") && subject.includes(`${stream}.${name}.`))) return true;
  const call = /^\$JS\.API\.(.*)$/.exec(subject)?.[1];
  if (call === undefined) return false;
  if (call === "INFO" || call === "CONSUMER.DELETE.FLYTE_TS_DOCTOR.nobody") return true;
  if (JETSTREAM_CALLS[user].some((pattern) => pattern.test(call))) return true;
  return own.some(({ stream, name }) =>
    ["DURABLE.CREATE", "CREATE", "INFO", "PAUSE", "MSG.NEXT"].some((kind) => call === `CONSUMER.${kind}.${stream}.${name}`),
  );
}

/** Subjects that the service of a user subscribes to. */
const SUBSCRIBED_BY_USER: Readonly<Record<User, readonly string[]>> = {
  admin: ["flyte.admin.changed", ...TYPE_ANNOUNCEMENTS, ANNOUNCEMENT_OF_DATA_PLANE],
  propeller: ["flyte.recorded.3", "flyte.wake.3", ...ANNOUNCEMENTS],
  "plugin-pod": [],
  "plugin-echo": [],
  "plugin-connector": ANNOUNCEMENTS,
  "plugin-operator": [],
  "plugin-web-api": [],
};

const WILDCARD_SUBJECTS = [
  ">",
  "*",
  "*.>",
  "flyte.>",
  "flyte.*.>",
  "_INBOX.>",
  "_INBOX.*",
  "_INBOX.*.>",
  "$SYS.>",
  "$JS.>",
  "$JS.API.>",
  "$JS.ACK.>",
  "$KV.>",
  "$O.>",
];

/** Lists subjects to subscribe to, each with whether the user's service needs it. */
export function subscriptionSubjects(user: User): readonly { readonly subject: string; readonly own: boolean }[] {
  const inboxes = USERS.map((name) => ({ subject: `_INBOX.${name}.>`, own: name === user }));
  const others = [...new Set([...MESSAGES, ...WILDCARD_SUBJECTS])].map((subject) => ({
    subject,
    own: SUBSCRIBED_BY_USER[user].includes(subject),
  }));
  return [...inboxes, ...others];
}
