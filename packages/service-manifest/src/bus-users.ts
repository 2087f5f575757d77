import type { BusAccess, ServiceManifest } from "./manifest-schema.js";

/** Permissions of a NATS user, in the server's format. */
export interface BusPermissions {
  readonly publish: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  readonly subscribe: { readonly allow: readonly string[] };
}

const ALL_STREAMS = ["FLYTE_PROBES", "FLYTE_DEAD_LETTERS", "FLYTE_HELD", "FLYTE_TASKS", "FLYTE_EVENTS"] as const;
/**
 * Bookkeeping streams, which every service that creates streams creates as well. The service may
 * not read their messages; it may read the state of {@link READABLE_BOOKKEEPING} only.
 */
const BOOKKEEPING = ["FLYTE_PROBES", "FLYTE_DEAD_LETTERS", "FLYTE_HELD"] as const;
/** Bookkeeping streams whose state creators read. */
const READABLE_BOOKKEEPING: ReadonlySet<string> = new Set(["FLYTE_HELD"]);

/** Begin of the subjects on which a service announces single task types. */
const HELLO = "flyte.plugin.hello.";

/** Lists the services that are users of the message bus. */
export function busServices(services: readonly ServiceManifest[]): readonly ServiceManifest[] {
  return services.filter(({ requires }) => requires.bus !== undefined);
}

/**
 * Derives the permissions of each bus user from the manifests. A user may publish and receive its
 * own messages, use its own consumers, and create the streams that its manifest declares. No user
 * may read stored messages directly.
 */
export function busUsers(services: readonly ServiceManifest[]): Readonly<Record<string, BusPermissions>> {
  const users = busServices(services).map((service) => ({ id: service.id, access: busAccess(service) }));
  return Object.fromEntries(users.map(({ id, access }) => [id, permissions(id, access, users)]));
}

/**
 * Returns the declared access, to which a plugin service adds one consumer for each task type, and
 * its announcements.
 */
function busAccess({ requires: { bus }, taskTypes, configurableTaskTypes }: ServiceManifest): BusAccess {
  if (bus === undefined) throw new Error("the service does not use the message bus");
  if (taskTypes.length === 0) return bus;
  const servable = [...taskTypes, ...configurableTaskTypes];
  return {
    publishes: ["flyte.event.task.*", "flyte.plugin.hello", ...servable.map((taskType) => `${HELLO}${taskType}`), ...bus.publishes],
    subscribes: bus.subscribes,
    createsStreams: bus.createsStreams,
    readsStreams: [...ALL_STREAMS, ...bus.readsStreams],
    consumes: [...servable.map((taskType) => ({ stream: "FLYTE_TASKS", durable: `plugin-${taskType}` })), ...bus.consumes],
  };
}

interface BusUser {
  readonly id: string;
  readonly access: BusAccess;
}

function permissions(id: string, access: BusAccess, users: readonly BusUser[]): BusPermissions {
  const { publishes, subscribes, createsStreams, readsStreams, consumes } = access;
  const created = createsStreams.length === 0 ? [] : [...BOOKKEEPING, ...createsStreams];
  return {
    publish: {
      allow: [
        ...publishes,
        ...consumes.flatMap(({ durable }) => putAsideSubjects(durable)),
        `flyte.probe.${id}`,
        "$JS.API.INFO",
        "$JS.API.CONSUMER.DELETE.FLYTE_TS_DOCTOR.nobody",
        ...created.flatMap(creationSubjects),
        ...readsStreams.map((stream) => `$JS.API.STREAM.INFO.${stream}`),
        ...consumes.flatMap(consumerSubjects),
      ],
      deny: [
        ...(publishes.includes(`${HELLO}*`) ? othersAnnouncements(id, users) : []),
        ...(consumes.some(({ durable }) => durable === "*") ? othersConsumers(id, access, users) : []),
      ],
    },
    subscribe: { allow: [...subscribes, `_INBOX.${id}.>`] },
  };
}

/** Lists the announcements that a wildcard grants by accident. */
function othersAnnouncements(id: string, users: readonly BusUser[]): readonly string[] {
  const others = users.filter((user) => user.id !== id).flatMap((user) => user.access.publishes);
  return others.filter((subject) => subject.startsWith(HELLO) && subject !== `${HELLO}*`);
}

/**
 * Lists the subjects that a wildcard would grant by accident: consumers of other users, and their
 * dead letters.
 */
function othersConsumers(id: string, { consumes }: BusAccess, users: readonly BusUser[]): readonly string[] {
  const streams = new Set(consumes.map(({ stream }) => stream));
  const others = users.filter((user) => user.id !== id).flatMap((user) => user.access.consumes.filter(({ durable }) => durable !== "*"));
  return [
    ...others.filter(({ stream }) => streams.has(stream)).flatMap(consumerSubjects),
    ...others.flatMap(({ durable }) => putAsideSubjects(durable)),
  ];
}

function putAsideSubjects(durable: string): readonly string[] {
  return [`flyte.dead.${durable}.>`, `flyte.held.${durable}.>`];
}

function creationSubjects(stream: string): readonly string[] {
  const isPrivate = BOOKKEEPING.some((name) => name === stream) && !READABLE_BOOKKEEPING.has(stream);
  return (isPrivate ? ["CREATE", "UPDATE"] : ["CREATE", "INFO", "UPDATE"]).map((call) => `$JS.API.STREAM.${call}.${stream}`);
}

function consumerSubjects({ stream, durable }: BusAccess["consumes"][number]): readonly string[] {
  return [
    `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.${durable}`,
    `$JS.API.CONSUMER.*.${stream}.${durable}`,
    `$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`,
    `$JS.ACK.${stream}.${durable}.>`,
    `$JS.ACK.*.*.${stream}.${durable}.>`,
  ];
}
